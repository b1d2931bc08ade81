import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";

import { example } from "./readme.mjs";

test("the example of the README prints what the README shows", () => {
  const { code, printed } = example();
  const output = execFileSync(process.execPath, ["--input-type=module", "-e", code], {
    cwd: import.meta.dirname,
    encoding: "utf8",
  });
  assert.equal(output, printed);
});

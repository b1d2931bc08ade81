import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { test } from "node:test";

import { example } from "./readme.mjs";

const FLAGS =
  "--strict --noEmit --module nodenext --target es2022 --lib es2022,dom,dom.iterable --types node";

/** Checks types and returns what the compiler reports. */
function checked(...files) {
  const program = ["node_modules/typescript/bin/tsc", ...FLAGS.split(" "), ...files];
  const { status, stdout } = spawnSync(process.execPath, program, {
    cwd: import.meta.dirname,
    encoding: "utf8",
  });
  return { status, stdout };
}

test("the types of the package are those of the example and of a strict program", () => {
  writeFileSync(new URL("readme.ts", import.meta.url), example().code);
  assert.deepEqual(checked("readme.ts", "types.ts"), { status: 0, stdout: "" });
});

test("a wrong use of the types is seen", () => {
  const code = 'import { Guard } from "toolcall-parsers";\nnew Guard({ family: 1 });\n';
  writeFileSync(new URL("wrong.ts", import.meta.url), code);
  assert.match(checked("wrong.ts").stdout, /wrong\.ts\(2,\d+\): error TS2322/);
});

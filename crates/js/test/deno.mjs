// Runs the example of the README in Deno: node deno.mjs DENO
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";

import { example } from "./readme.mjs";

const { code, printed } = example();
writeFileSync(new URL("example-of-deno.mjs", import.meta.url), code);
// It reads the module and nothing else, and has no network.
const flags = ["run", "--quiet", "--no-remote", "--allow-read=.", "example-of-deno.mjs"];
const output = execFileSync(process.argv[2], flags, { cwd: import.meta.dirname, encoding: "utf8" });
assert.equal(output, printed);
console.log("the example of the README runs in Deno");

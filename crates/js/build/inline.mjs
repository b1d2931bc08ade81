// Writes a module as the text of a script, compressed: node inline.mjs MODULE.wasm SCRIPT.js
//
// Import of the script needs no file system and no address, so that every bundler can pack it.
import { readFileSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

const [module, script] = process.argv.slice(2);
const text = gzipSync(readFileSync(module), { level: 9 }).toString("base64");
writeFileSync(script, `export default "${text}";\n`);

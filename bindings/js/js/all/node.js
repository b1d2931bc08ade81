// The entry for Node and Deno: the module is read from the package's folder at once.
import { readFileSync } from "node:fs";

import { loader } from "./module.js";

loader.loadNow(readFileSync(new URL("../../wasm/guard_bg.wasm", import.meta.url)));

/** Does nothing here: the module is loaded. */
export async function init() {}

export * from "./names.js";

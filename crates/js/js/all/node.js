// The entry for Node, Deno and Bun: the module is text of the package's code.
import { Buffer } from "node:buffer";
import { gunzipSync } from "node:zlib";

import text from "../../wasm/guard.text.js";
import { loader } from "./module.js";

loader.loadNow(gunzipSync(Buffer.from(text, "base64")));

/** Does nothing here: the module is loaded. */
export async function init() {}

export * from "./names.js";

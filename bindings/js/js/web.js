// The entry for browsers and bundlers: the module is a file beside this one.
import { load } from "./core.js";

/** Loads the module, from `source` if the file is elsewhere. */
export async function init(source) {
  await load(source ?? new URL("../wasm/guard_bg.wasm", import.meta.url));
}

export * from "./exports.js";

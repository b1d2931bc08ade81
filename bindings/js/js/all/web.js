// The entry for browsers and bundlers: the module is a file of the package.
import { loader } from "./module.js";

/** Loads the module, from `source` if the file is elsewhere. */
export async function init(source) {
  await loader.load(source ?? new URL("../../wasm/guard_bg.wasm", import.meta.url));
}

export * from "./names.js";

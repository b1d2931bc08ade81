// The entry for browsers and bundlers: `init` loads the module.
import { loader } from "./module.js";

/** Loads the module, from `source` instead of the package's own text if that is given. */
export async function init(source) {
  if (source !== undefined) return loader.load(source);
  const { default: text } = await import("../../wasm/guard.text.js");
  return loader.unpack(text);
}

export * from "./names.js";

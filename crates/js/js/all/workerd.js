// The entry for workers that compile no module: theirs is compiled where they are deployed.
import module from "../../wasm/guard_bg.wasm";
import { loader } from "./module.js";

loader.loadNow(module);

/** Does nothing here: the module is loaded. */
export async function init() {}

export * from "./names.js";

// The functions over the module with everything.
import * as native from "../../wasm/guard.js";
import { layers } from "../layers.js";

export const {
  ArgumentsView,
  derive,
  detect,
  encode,
  explain,
  explainPage,
  families,
  Guard,
  guardChunks,
  guardCompletion,
  guardFetch,
  guardMiddleware,
  guardRequest,
  guardSse,
  guardText,
  loader,
  parse,
  profile,
} = layers(native);

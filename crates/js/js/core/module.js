// The functions over the module with a guard alone.
import * as native from "../../wasm/core.js";
import { guards } from "../guards.js";

export const {
  ArgumentsView,
  families,
  Guard,
  guardRequest,
  guardText,
  loader,
  parse,
} = guards(native);

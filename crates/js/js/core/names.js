// The names that the entry has in Node and in browsers.
export {
  ArgumentsView,
  families,
  Guard,
  guardRequest,
  guardText,
  parse,
} from "./module.js";
export { SettingsError, StateError, StreamError } from "../errors.js";

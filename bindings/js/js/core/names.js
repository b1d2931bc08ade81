// The names that the entry has in Node and in browsers.
export {
  ArgumentsView,
  families,
  Guard,
  guardText,
  parse,
} from "./module.js";
export { SettingsError, StreamError } from "../errors.js";

// The names that the entry has in Node and in browsers.
export {
  ArgumentsView,
  detect,
  encode,
  explain,
  explainPage,
  families,
  Guard,
  guardSse,
  guardText,
  parse,
  profile,
} from "./module.js";
export { SettingsError, StreamError } from "../errors.js";

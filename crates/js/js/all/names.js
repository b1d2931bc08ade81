// The names that the entry has in Node and in browsers.
export {
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
  parse,
  profile,
} from "./module.js";
export { SettingsError, StateError, StreamError } from "../errors.js";

// The names that every entry of the package has.
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
  SettingsError,
  StreamError,
} from "./core.js";

export type {
  Call,
  Diagnostic,
  End,
  GuardEvent,
  Message,
  Outcome,
  Path,
  Profile,
  Settings,
} from "./index.js";
export {
  ArgumentsView,
  families,
  Guard,
  guardText,
  init,
  parse,
  SettingsError,
  StreamError,
} from "./index.js";

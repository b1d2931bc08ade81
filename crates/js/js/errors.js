// The errors of every entry. `code` is one word, for programs.

/** A setting is unknown, malformed, or does not fit the others. */
export class SettingsError extends Error {
  name = "SettingsError";
  code;
  constructor(message, code = "invalid_settings") {
    super(message);
    this.code = code;
  }
}

/** A stream hit a limit or broke the protocol. `released` has the output before the error. */
export class StreamError extends Error {
  name = "StreamError";
  code;
  constructor(message, released, code = "limit") {
    super(message);
    this.released = released;
    this.code = code;
  }
}

/** An object of the package was used before it was ready, or after its end. */
export class StateError extends Error {
  name = "StateError";
  code;
  constructor(message, code) {
    super(message);
    this.code = code;
  }
}

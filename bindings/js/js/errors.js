// The errors of every entry.

/** A setting is unknown, malformed, or does not fit the others. */
export class SettingsError extends Error {
  name = "SettingsError";
}

/** A stream hit a limit or broke the protocol. `released` has the output before the error. */
export class StreamError extends Error {
  name = "StreamError";
  constructor(message, released) {
    super(message);
    this.released = released;
  }
}

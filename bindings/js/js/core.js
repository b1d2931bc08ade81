// The package's functions, over the compiled module. An entry of the package loads the module first.
import * as native from "../wasm/guard.js";

let loaded = false;

/** Compiles the module from its bytes. Later calls do nothing. */
export function loadNow(bytes) {
  if (!loaded) native.initSync({ module: bytes });
  loaded = true;
}

/** Compiles the module from what `fetch` gets, or from bytes. */
export async function load(source) {
  if (!loaded) await native.default({ module_or_path: source });
  loaded = true;
}

/** A setting is unknown, malformed, or does not fit the others. */
export class SettingsError extends Error {
  name = "SettingsError";
}

/** A stream hit a limit or broke the protocol. `released` is what was emitted before. */
export class StreamError extends Error {
  name = "StreamError";
  constructor(message, released) {
    super(message);
    this.released = released;
  }
}

function made(make) {
  if (!loaded) throw new Error("the module is not loaded: `await init()` first");
  try {
    return make();
  } catch (error) {
    throw typeof error === "string" ? new SettingsError(error) : error;
  }
}

function textOf(settings) {
  return JSON.stringify(settings ?? {});
}

/** Strings whose pieces may end in half of a surrogate pair. */
class Halves {
  #half = "";

  whole(chunk) {
    const text = this.#half + chunk;
    const last = text.charCodeAt(text.length - 1);
    const cut = last >= 0xd800 && last < 0xdc00;
    this.#half = cut ? text.slice(-1) : "";
    return cut ? text.slice(0, -1) : text;
  }

  rest() {
    const half = this.#half;
    this.#half = "";
    return half && "\ufffd";
  }
}

function eventsOf(json) {
  const events = JSON.parse(json);
  if (events.at(-1)?.kind !== "error") return events;
  const { message } = events.pop();
  throw new StreamError(message, events);
}

function bytesOf(chunk) {
  if (chunk instanceof Uint8Array) return chunk;
  if (chunk instanceof ArrayBuffer) return new Uint8Array(chunk);
  throw new TypeError("expected a string, a Uint8Array or an ArrayBuffer");
}

export class Guard {
  #native;
  #halves = new Halves();
  #over = false;

  constructor(settings) {
    this.#native = made(() => new native.NativeGuard(textOf(settings)));
  }

  push(chunk) {
    if (this.#over) throw new Error("the message is over; `reset` begins another");
    const json =
      typeof chunk === "string"
        ? this.#native.push(this.#halves.whole(chunk))
        : this.#native.push_bytes(bytesOf(chunk));
    return eventsOf(json);
  }

  pushMarker(text) {
    if (this.#over) throw new Error("the message is over; `reset` begins another");
    return eventsOf(this.#native.push_marker(text));
  }

  finish(end = "stop") {
    const half = this.#halves.rest();
    const events = half ? this.push(half) : [];
    const last = made(() => this.#native.finish(end));
    this.#over = true;
    return events.concat(eventsOf(last));
  }

  parse(text, end = "stop") {
    return JSON.parse(made(() => this.#native.parse(text, end)));
  }

  reset() {
    this.#native.reset();
    this.#halves.rest();
    this.#over = false;
  }

  get held() {
    return this.#native.held();
  }

  get family() {
    return this.#native.family();
  }

  get needsSpecialTokens() {
    return this.#native.needs_special_tokens();
  }
}

export function parse(text, settings) {
  const { end, ...rest } = settings;
  return new Guard(rest).parse(text, end);
}

export function guardText(settings) {
  const guard = new Guard(settings);
  const emit = (read, controller) => {
    try {
      for (const event of read()) controller.enqueue(event);
    } catch (error) {
      for (const event of error.released ?? []) controller.enqueue(event);
      throw error;
    }
  };
  return new TransformStream({
    transform: (chunk, controller) => emit(() => guard.push(chunk), controller),
    flush: (controller) => emit(() => guard.finish(), controller),
  });
}

export function guardSse(settings) {
  const sse = made(() => new native.NativeSse(textOf(settings)));
  const emit = (read, controller) => {
    let fault;
    try {
      read();
    } catch (error) {
      fault = new StreamError(String(error), []);
    }
    const bytes = sse.take();
    if (bytes.length > 0) controller.enqueue(bytes);
    if (fault) throw fault;
  };
  return new TransformStream({
    transform: (chunk, controller) => emit(() => sse.push(bytesOf(chunk)), controller),
    flush: (controller) => emit(() => sse.finish("stop"), controller),
  });
}

export function families() {
  return made(() => native.families());
}

export function profile(settings) {
  return JSON.parse(made(() => native.profile(textOf(settings))));
}

export function encode(calls, settings) {
  return made(() => native.encode(JSON.stringify(calls), textOf(settings)));
}

export function detect(text) {
  return JSON.parse(made(() => native.detect(text)));
}

function recordingOf(recording) {
  return typeof recording === "string" ? new TextEncoder().encode(recording) : bytesOf(recording);
}

export function explain(recording, settings) {
  const { name = "recording", ...rest } = settings ?? {};
  return JSON.parse(made(() => native.explain(recordingOf(recording), textOf(rest), name)));
}

export function explainPage(recording, settings) {
  const { name = "recording", ...rest } = settings ?? {};
  return made(() => native.explain_page(recordingOf(recording), textOf(rest), name));
}

export class ArgumentsView {
  #native = made(() => new native.NativeArguments());
  #halves = new Halves();
  #path = [];
  /** The value at each length of the path. */
  #values = [{}];
  /** Whether text without quotes and backslashes is only added to a string. */
  #isInText = false;


  push(fragment) {
    const text = this.#halves.whole(fragment);
    if (text === "") return [];
    if (this.#isInText && !/["\\]/.test(text)) {
      this.#append(this.#path.length, text);
      return [[...this.#path]];
    }
    const changed = [];
    const edits = JSON.parse(this.#native.push(text));
    this.#isInText = this.#native.is_in_text();
    for (const [length, step, value] of edits) {
      if (value === undefined) this.#append(length, step);
      else this.#set(length, step, value);
      const last = changed.at(-1);
      if (value !== undefined || !last || last.length !== this.#path.length) {
        changed.push([...this.#path]);
      }
    }
    return changed;
  }

  #set(length, step, value) {
    this.#path.length = Math.max(length, 0);
    this.#values.length = length + 1;
    if (length >= 0) {
      put(this.#values[length], step, value);
      this.#path.push(step);
    }
    this.#values.push(value);
  }

  #append(length, text) {
    this.#path.length = length;
    this.#values.length = length + 1;
    this.#values[length] += text;
    if (length > 0) put(this.#values[length - 1], this.#path[length - 1], this.#values[length]);
  }

  get value() {
    return this.#values[0];
  }

  get isComplete() {
    return this.#native.state() === 1;
  }

  get isMalformed() {
    return this.#native.state() === 2;
  }
}

/** Sets a member; one called `__proto__` is a member like any other. */
function put(container, step, value) {
  if (step === "__proto__") {
    const own = { value, writable: true, enumerable: true, configurable: true };
    Object.defineProperty(container, step, own);
  } else {
    container[step] = value;
  }
}

/** How a message ended: by itself, by the token limit, or by a lost connection. */
export type End = "stop" | "length" | "aborted";

/** The outcome of a call. The arguments of a `complete` or `repaired` call are a JSON object. */
export type Outcome = "complete" | "repaired" | "malformed" | "incomplete";

/** A notice about the input that is not an error. */
export interface Diagnostic {
  kind: string;
  /** Offset in the model's text, in bytes of UTF-8. */
  at: number;
  bytes: number;
  /** Index of the call concerned. */
  call: number | null;
}

/** One event of a message. */
export type GuardEvent =
  | { kind: "content"; text: string }
  | { kind: "reasoning"; text: string }
  | { kind: "call_start"; index: number; id: string; name: string }
  | { kind: "call_arguments"; index: number; fragment: string }
  | { kind: "call_end"; index: number; outcome: Outcome }
  | { kind: "diagnostic"; diagnostic: Diagnostic };

export interface Call {
  id: string;
  name: string;
  /** JSON text. */
  arguments: string;
  outcome: Outcome;
}

export interface Message {
  content: string;
  reasoning: string;
  calls: Call[];
  diagnostics: Diagnostic[];
}

/** The profile of a family, as `profile` and `detect` return it. */
export type Profile = { name: string } & Record<string, unknown>;

/** One of `model`, `family` and `profile`, or a `request` with a model, is needed. */
export interface Settings {
  /** Id of the model, such as `Qwen/Qwen3-8B`. */
  model?: string | null;
  /** Name of a family; `families()` lists them. */
  family?: string | null;
  profile?: Profile | null;
  /** Tools of the request, in the form of the OpenAI API. */
  tools?: readonly unknown[] | null;
  /** The whole chat-completion request. */
  request?: object | null;
  /** The rendered prompt, or its last turn. It decides where the text begins. */
  prompt?: string | null;
  /** Where the text begins, if known. */
  start?: "content" | "reasoning" | null;
  /** Policy for white space around markup, in place of the family's. */
  whitespace?: "framing" | "verbatim" | "trim" | "before_calls" | "reasoning_end" | null;
  /** The suffix of the checkpoint's tags. */
  tokenSuffix?: string | null;
  /** Texts that are single tokens of the tokenizer. With their ids, streams are read by token ids. */
  markerTokens?: readonly string[] | Readonly<Record<string, number>> | null;
  /** `counting` gives each message the same ids. */
  ids?: "unique" | "counting" | null;
  /** `atomic` gives all events of a call at its end. */
  delivery?: "streaming" | "atomic" | null;
  /** Limits of held text: bytes of a candidate and of white space, and channels open at once. */
  limits?: { candidate?: number; whitespace?: number; depth?: number } | null;
}

/** A setting is unknown, malformed, or does not fit the others. */
export class SettingsError extends Error {}

/** A stream hit a limit or broke the protocol. */
export class StreamError extends Error {
  /** Events that were emitted before the error. */
  released: GuardEvent[];
}

/**
 * Loads the WebAssembly module. Call it once in browsers; elsewhere it does nothing.
 * `source` is where the file `guard_bg.wasm` is, if not in the package's folder.
 */
export function init(source?: string | URL | Request | Response | BufferSource): Promise<void>;

/** Turns the raw text of one message into events. */
export class Guard {
  constructor(settings: Settings);
  /** Feeds the next piece and returns the events that are certain. */
  push(chunk: string | Uint8Array | ArrayBuffer): GuardEvent[];
  /** Feeds a token that is a marker. */
  pushMarker(text: string): GuardEvent[];
  /** Ends the message and returns the last events. */
  finish(end?: End): GuardEvent[];
  /** Parses a whole text, and leaves this guard unchanged. */
  parse(text: string, end?: End): Message;
  /** Resets the guard for a new message. */
  reset(): void;
  /** Number of bytes held back because their meaning is not certain yet. */
  readonly held: number;
  /** Name of the family. */
  readonly family: string;
  /** Whether the server must be asked to keep special tokens in the text. */
  readonly needsSpecialTokens: boolean;
}

/** Parses a whole text. */
export function parse(text: string, settings: Settings & { end?: End }): Message;

/** Turns a stream of text into a stream of events. */
export function guardText(
  settings: Settings,
): TransformStream<string | Uint8Array | ArrayBuffer, GuardEvent>;

/** Cleans the bytes of a chat-completion event stream. */
export function guardSse(settings: Settings): TransformStream<Uint8Array | ArrayBuffer, Uint8Array>;

/** Returns the names of all families, including aliases. */
export function families(): string[];

/** Returns the profile that settings name. */
export function profile(settings: Settings): Profile;

/** Writes calls as the model would have. */
export function encode(
  calls: readonly { name: string; arguments?: object | string | null; id?: string | null }[],
  settings: Settings,
): string;

export interface Detection {
  /** The family that reads the text best. */
  family: string | null;
  certainty: string;
  candidates: unknown[];
  profile: Profile | null;
}

/** Returns the families whose models may have written a text. */
export function detect(text: string): Detection;

/** Settings of an explanation. Without a family, the recording decides. */
export type ExplainSettings = Settings & { name?: string };

/** Explains a recording: server-sent events, JSON lines, text, or the log of curl. */
export function explain(
  recording: string | Uint8Array | ArrayBuffer,
  settings?: ExplainSettings,
): { file: string; explanations: Record<string, unknown>[] };

/** Explains a recording as a page of HTML that needs no other file. */
export function explainPage(
  recording: string | Uint8Array | ArrayBuffer,
  settings?: ExplainSettings,
): string;

/** Keys and indices from the top to a value. */
export type Path = (string | number)[];

/** A view of a call's arguments as a value, to show them while they arrive. */
export class ArgumentsView {
  constructor();
  /** Adds the next fragment and returns the paths of the values that changed. */
  push(fragment: string): Path[];
  /** The value so far. `push` changes this object in place. */
  readonly value: unknown;
  readonly isComplete: boolean;
  readonly isMalformed: boolean;
}

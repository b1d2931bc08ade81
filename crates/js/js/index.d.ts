/// <reference lib="esnext.disposable" />
/** How a message ended: by itself, by the token limit, or by a lost connection. */
export type End = "stop" | "length" | "aborted";

/** The outcome of a call. The arguments of a `complete` or `repaired` call are a JSON object. */
export type Outcome = "complete" | "repaired" | "malformed" | "incomplete";

/** The kinds of diagnostics. A later version may have more. */
export type DiagnosticKind =
  | "candidate_limit"
  | "whitespace_limit"
  | "depth_limit"
  | "rescan_limit"
  | "orphan_closer"
  | "reasoning_limit"
  | "collapse"
  | "damaged_marker"
  | "mixed_markers"
  | "cut_opener"
  | "jail_bytes"
  | "jail_count"
  | "jail_chunks"
  | "jail_time"
  | "jail_unclosed"
  | "jail_dropped"
  | "halted"
  | "empty_list"
  | "broken_block"
  | "call_in_code"
  | "skipped"
  | "foreign_call"
  | "second_arguments"
  | "late_id"
  | "missing_closer"
  | "noise"
  | "echo"
  | "duplicate_parameter"
  | "mistyped"
  | "pseudo_call"
  | "undeclared_tool"
  | "parallel_call"
  | "inexpressible"
  | "duplicate_id"
  | "unwanted_call"
  | "bad_payload"
  | "after_stop"
  | "tolerated"
  | "malformed_region";

/** A notice about the input that is not an error. */
export interface Diagnostic {
  kind: DiagnosticKind;
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

/**
 * One of `model`, `family`, `profile`, `familyFile` and `template`, or a `request` with a model, is
 * needed.
 */
export interface Settings {
  /** Id of the model, such as `Qwen/Qwen3-8B`. */
  model?: string | null;
  /** Name of a family; `families()` lists them. */
  family?: string | null;
  profile?: Profile | null;
  /**
   * The file of a family, as `derive` returns it: the text of TOML or JSON, or an object. The core,
   * and so `toolcall-parsers/ai`, refuses it.
   */
  familyFile?: string | object | null;
  /**
   * A checkpoint's response template, or the `tokenizer_config.json` that has one: text, or an
   * object. The core, and so `toolcall-parsers/ai`, refuses it.
   */
  template?: string | object | null;
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
  /** Whether calls inside inline code and fenced blocks run. They run by default. */
  inCode?: "run" | "text" | null;
  /**
   * Under `declared`, a string becomes the number, boolean or null that the tool declares, if its
   * text is exactly one. The call is then `repaired`.
   */
  argumentTypes?: "written" | "declared" | null;
  /** Limits of held text: bytes of a candidate and of white space, and channels open at once. */
  limits?: { candidate?: number; whitespace?: number; depth?: number } | null;
}

/** A setting is unknown, malformed, or does not fit the others. */
export class SettingsError extends Error {
  readonly code: "invalid_settings" | "unknown_model" | "unknown_family";
}

/** A stream hit a limit or broke the protocol. */
export class StreamError extends Error {
  readonly code: "limit" | "unfinished";
  /** Events that were emitted before the error. */
  released: GuardEvent[];
}

/** The module, or an object of the package, was used too early or too late. */
export class StateError extends Error {
  readonly code: "not_loaded" | "over" | "freed";
}

/** A compiled module of WebAssembly. */
type CompiledModule = object;

/**
 * Loads the WebAssembly module. Call it once in browsers; elsewhere it does nothing. Without
 * `source` the module is text of the package's code. `source` is its file (`wasm/guard_bg.wasm`
 * of the package, or `wasm/core_bg.wasm` for the core): an address, bytes, or compiled.
 */
export function init(
  source?: string | URL | Request | Response | BufferSource | CompiledModule,
): Promise<void>;

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
  /**
   * Returns the part of a message's whole text that is the call with this index, from its opening
   * tag to the end of its arguments, for those who repair calls that cannot run. This guard is
   * unchanged.
   */
  callText(text: string, index: number): string | undefined;
  /** Resets the guard for a new message. */
  reset(): void;
  /** Frees the memory of the module now, and not at some time after the last use. */
  free(): void;
  [Symbol.dispose](): void;
  /** Number of bytes held back because their meaning is not certain yet. */
  readonly held: number;
  /** Name of the family. */
  readonly family: string;
  /** Whether the server must be asked to keep special tokens in the text. */
  readonly needsSpecialTokens: boolean;
}

/** Parses a whole text. */
export function parse(text: string, settings: Settings & { end?: End }): Message;

/** How a stream ended, or a function that is asked when it has ended. `stop` if nothing is given. */
export type StreamEnd = End | (() => End);

/** Turns a stream of text into a stream of events. An error follows all events before it. */
export function guardText(
  settings: Settings & { end?: StreamEnd },
): TransformStream<string | Uint8Array | ArrayBuffer, GuardEvent>;

/** An inference server. `other` is one whose requests need no change. */
export type Server = "vllm" | "sglang" | "llama.cpp" | "ollama" | "other";

/** A request as a server needs it. */
export interface Prepared<Request> {
  body: Request;
  /** Whether the answer is the raw text of the model. If not, the server parses it. */
  isRaw: boolean;
  /** The reason why the server is not held to the calls or the form that the request demands. */
  noGrammar?: string;
}

/**
 * Changes a chat-completion request so that the server answers with the raw text of the model.
 * A demand for calls, and the form of an answer after a thought, become a grammar. With the ids of
 * marker tokens, the server is also asked for the ids of tokens.
 */
export function guardRequest<Request extends object>(
  request: Request,
  settings?: RequestSettings,
): Prepared<Request>;

/**
 * `prompt` writes the tools, and the calls and results of earlier messages, into the messages, and
 * removes them from the request. For models whose chat template declares no tools. The core, and so
 * `toolcall-parsers/ai`, refuses it.
 */
export type ToolsInPrompt = "prompt";

/** Settings of a request. With `tools`, a family is needed as for a guard. */
export type RequestSettings = Pick<
  Settings,
  | "markerTokens"
  | "model"
  | "family"
  | "profile"
  | "familyFile"
  | "template"
  | "tokenSuffix"
  | "prompt"
  | "start"
> & { server?: Server | undefined; tools?: ToolsInPrompt | undefined };

/** Settings of an answer of a chat completion. */
export interface ChatSettings extends Settings {
  /** Called with the diagnostics of each choice. */
  onDiagnostic?: ((diagnostic: Diagnostic, choice: number) => void) | undefined;
  /** `whole` gives each call in one piece, at its end. */
  calls?: "streamed" | "whole" | null;
  /** What becomes of a call that is malformed or was cut. */
  brokenCalls?: "auto" | "keep" | "drop" | "release" | null;
}

/** Cleans the bytes of a chat-completion event stream. An error follows all bytes before it. */
export function guardSse(
  settings: ChatSettings & { end?: StreamEnd },
): TransformStream<Uint8Array | ArrayBuffer, Uint8Array>;

/** Cleans the chunks of a chat completion. An error follows all chunks before it. */
export function guardChunks<Chunk extends object>(
  settings: ChatSettings,
): TransformStream<Chunk, Chunk>;

/** Cleans a whole chat completion. */
export function guardCompletion<Completion extends object>(
  completion: Completion,
  settings: ChatSettings,
): Completion;

/** A notice that the server is not held to the calls or the form that a request demands. */
export interface NoGrammar {
  kind: "no_grammar";
  reason: string;
}

/** Where no setting names the format, the model of each request decides. */
export interface FetchSettings extends Omit<ChatSettings, "onDiagnostic" | "tools"> {
  /** Called with a notice about the request, which has no choice, and the diagnostics of each choice. */
  onDiagnostic?: ((diagnostic: Diagnostic | NoGrammar, choice?: number) => void) | undefined;
  tools?: ToolsInPrompt | undefined;
  server?: Server | undefined;
  /** Sends the requests. */
  fetch?: typeof fetch | undefined;
}

/**
 * Returns a `fetch` for clients of the OpenAI API. It prepares chat-completion requests for the
 * server and cleans the answers, streamed or whole. Everything else passes unchanged.
 */
export function guardFetch(settings?: FetchSettings): typeof fetch;

export { guardMiddleware } from "./ai.js";
export type { GuardMiddleware, MiddlewareSettings, Wrapped } from "./ai.js";

/** Returns the names of all families, including aliases. */
export function families(): string[];

/** Returns the profile that settings name. */
export function profile(settings: Settings): Profile;

/** A function with its arguments: an object, or JSON text. */
export interface FunctionCall {
  name: string;
  arguments?: object | string | null;
}

/** A call to write, in the form of `parse` or of the OpenAI API. */
export type CallToWrite = (FunctionCall | { function: FunctionCall }) & { id?: string | null };

/** Writes calls as the model would have. */
export function encode(calls: readonly CallToWrite[], settings: Settings): string;

/** The parts of a `tokenizer_config.json` that `derive` reads. */
export interface TokenizerConfig {
  chat_template: unknown;
  bos_token?: unknown;
  eos_token?: unknown;
}

/**
 * Renders a chat template, as `new Template(template).render(variables)` of `@huggingface/jinja` does.
 */
export type RenderTemplate = (template: string, variables: Record<string, unknown>) => string;

/**
 * Returns the text of the file of the family that a chat template shows, for models of no known
 * family. `source` is the template, or the content of the `tokenizer_config.json`. The file is proved:
 * `encode` writes what the template renders, and a guard reads it back at every cut. If the template
 * shows no calls or loses a part of them, the error has the two renderings that differ.
 */
export function derive(source: string | TokenizerConfig, render: RenderTemplate): string;

/** Families that read a text alike. */
export interface Candidate {
  families: string[];
  /** Number of calls that these families read. */
  calls: number;
  /** Number of calls that were malformed or cut. */
  broken: number;
  markers: string[];
  /** Texts that look like markup and are ordinary text to these families. */
  leftovers: string[];
  start: "content" | "reasoning";
}

export interface Detection {
  /** The family that reads the text best. */
  family: string | null;
  certainty: "unknown" | "likely" | "sure";
  /** Groups of families, best first. */
  candidates: Candidate[];
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
  /**
   * Returns the value so far as an object that never changes, for React and the like. Parts that
   * are whole are shared between snapshots. Without a change, the snapshot is the same object.
   */
  snapshot(): unknown;
  readonly isComplete: boolean;
  readonly isMalformed: boolean;
  /** Frees the memory of the module now, and not at some time after the last use. */
  free(): void;
  [Symbol.dispose](): void;
}

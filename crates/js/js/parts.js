// The events of one message as parts of the AI SDK.

/** The key of what the package adds to a refused call, in its `providerMetadata`. */
export const PACKAGE = "toolcall-parsers";
/** The length of a message up to which its text is kept for calls that cannot run. */
const KEPT = 1 << 22;

/** Converts the events of one message into parts of a stream. */
export class Parts {
  /** Metadata of the text that upstream sent last. */
  metadata;
  #guard;
  #onDiagnostic;
  #text = "";
  /** The open part of text. */
  #open;
  #count = 0;
  #call;
  #calls = 0;
  /** Calls that may not run. Their text goes on after their fault. */
  #refused = [];
  #isOver = false;

  constructor(guard, onDiagnostic) {
    this.#guard = guard;
    this.#onDiagnostic = onDiagnostic;
  }

  push(text) {
    if (this.#text.length <= KEPT) this.#text += text;
    return this.#partsOf(this.#guard.push(text));
  }

  finish(reason) {
    if (this.#isOver) return [];
    this.#isOver = true;
    const ends = { length: "length", error: "aborted", "content-filter": "aborted" };
    const end = reason === undefined ? "aborted" : (ends[reason.unified] ?? "stop");
    const parts = this.#partsOf(this.#guard.finish(end));
    return [...parts, ...this.close(), ...this.#told()];
  }

  /** Returns the parts of the events that an error carries, and ends the message. */
  released(error) {
    this.#isOver = true;
    return [...this.#partsOf(error.released ?? []), ...this.close(), ...this.#told()];
  }

  /** Returns the finish reason. A server that does not see the calls reports `stop` instead. */
  reason(reason) {
    const isCall = reason.unified === "stop" && this.#calls > 0;
    return isCall ? { ...reason, unified: "tool-calls" } : reason;
  }

  close() {
    if (!this.#open) return [];
    const { kind, id } = this.#open;
    this.#open = undefined;
    return [this.#withMetadata({ type: `${kind}-end`, id })];
  }

  free() {
    this.#isOver = true;
    this.#guard.free();
  }

  #partsOf(events) {
    return events.flatMap((event) => this.#parts(event));
  }

  #parts(event) {
    switch (event.kind) {
      case "content":
        return [...this.#told(), ...this.#words("text", event.text)];
      case "reasoning":
        return [...this.#told(), ...this.#words("reasoning", event.text)];
      case "call_start": {
        const { index, id, name } = event;
        const told = this.#told();
        this.#call = { index, id, name, input: "" };
        return [...told, ...this.close(), { type: "tool-input-start", id, toolName: name }];
      }
      case "call_arguments":
        this.#call.input += event.fragment;
        return [{ type: "tool-input-delta", id: this.#call.id, delta: event.fragment }];
      case "call_end":
        return this.#callEnd(event.outcome);
      case "diagnostic":
        this.#onDiagnostic?.(event.diagnostic);
        return [];
      default:
        return [];
    }
  }

  #words(kind, delta) {
    const parts = [];
    if (this.#open?.kind !== kind) {
      parts.push(...this.close());
      this.#open = { kind, id: `${kind}-${this.#count++}` };
      parts.push(this.#withMetadata({ type: `${kind}-start`, id: this.#open.id }));
    }
    parts.push({ type: `${kind}-delta`, id: this.#open.id, delta });
    return parts;
  }

  #withMetadata(part) {
    return this.metadata ? { ...part, providerMetadata: this.metadata } : part;
  }

  #callEnd(outcome) {
    const { id, name, input } = this.#call;
    this.#calls += 1;
    const end = { type: "tool-input-end", id };
    if (outcome === "complete" || outcome === "repaired") {
      return [end, { type: "tool-call", toolCallId: id, toolName: name, input }];
    }
    this.#refused.push({ ...this.#call, outcome });
    return [end];
  }

  /**
   * Returns the calls that may not run. Their input is the model's text, which no reader of JSON
   * accepts, so that the SDK asks its repair hook, or tells the model of the error.
   */
  #told() {
    if (this.#refused.length === 0) return [];
    return this.#refused.splice(0).map(({ index, id, name, input: read, outcome }) => {
      const text = this.#textOf(index) ?? read;
      return {
        type: "tool-call",
        toolCallId: id,
        toolName: name,
        input: unreadable(text),
        providerMetadata: { [PACKAGE]: { outcome, arguments: read, text } },
      };
    });
  }

  #textOf(index) {
    return this.#text.length <= KEPT ? this.#guard.callText(this.#text, index) : undefined;
  }
}

/** Returns text that is not JSON. Blank text counts as an empty object for the SDK. */
function unreadable(text) {
  if (text.trim() === "") return "{,]";
  try {
    JSON.parse(text);
    return `${text},]`;
  } catch {
    return text;
  }
}

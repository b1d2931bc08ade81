// A middleware for language models of the Vercel AI SDK whose server leaves markup in the text.
import { Guard } from "toolcall-parsers/core";

export { init } from "toolcall-parsers/core";

/** Returns a middleware for `wrapLanguageModel`. */
export function guardMiddleware(options = {}) {
  const { specificationVersion = "v4", ...settings } = options;
  return {
    specificationVersion,
    async wrapGenerate({ doGenerate, params, model }) {
      const result = await doGenerate();
      const message = new Parts(guardOf(settings, params, model));
      const content = [];
      for (const part of result.content) {
        if (part.type === "text") {
          gather(content, message.push(part.text), part);
        } else {
          gather(content, message.close(), {});
          content.push(part);
        }
      }
      gather(content, message.finish(result.finishReason), {});
      return { ...result, content, finishReason: message.reason(result.finishReason) };
    },
    async wrapStream({ doStream, params, model }) {
      const { stream, ...rest } = await doStream();
      const message = new Parts(guardOf(settings, params, model));
      return { ...rest, stream: stream.pipeThrough(new TransformStream(rewriter(message))) };
    },
  };
}

/** Returns the guard of one message. The request decides the tools, and the model the family. */
function guardOf(settings, params, model) {
  const isNamed = settings.model ?? settings.family ?? settings.profile;
  const named = isNamed ? settings : { ...settings, model: model.modelId };
  const functions = (params.tools ?? []).filter((tool) => tool.type === "function");
  if (functions.length === 0) return new Guard(named);
  const tools = functions.map(({ name, description, inputSchema }) => ({
    type: "function",
    function: { name, description, parameters: inputSchema },
  }));
  const request = { ...settings.request, tools };
  const choice = params.toolChoice;
  if (choice?.type === "tool") {
    request.tool_choice = { type: "function", function: { name: choice.toolName } };
  } else if (choice) {
    request.tool_choice = choice.type;
  }
  return new Guard({ ...named, request });
}

function rewriter(message) {
  let isOver = false;
  const emit = (parts, controller) => {
    for (const part of parts) controller.enqueue(part);
  };
  return {
    transform(part, controller) {
      switch (part.type) {
        case "text-start":
        case "text-end":
          // The guard decides where parts of text begin and end.
          return;
        case "text-delta":
          return emit(message.push(part.delta), controller);
        case "finish":
          isOver = true;
          emit(message.finish(part.finishReason), controller);
          return controller.enqueue({ ...part, finishReason: message.reason(part.finishReason) });
        case "reasoning-start":
        case "tool-input-start":
        case "tool-call":
          emit(message.close(), controller);
          return controller.enqueue(part);
        default:
          return controller.enqueue(part);
      }
    },
    flush(controller) {
      if (!isOver) emit(message.finish(undefined), controller);
    },
  };
}

/** Converts the events of one message into parts of a stream. */
class Parts {
  #guard;
  /** The open part of text. */
  #open;
  #count = 0;
  #call;
  #completed = 0;

  constructor(guard) {
    this.#guard = guard;
  }

  push(text) {
    return this.#guard.push(text).flatMap((event) => this.#parts(event));
  }

  finish(reason) {
    const ends = { length: "length", error: "aborted" };
    const end = reason === undefined ? "aborted" : (ends[reason.unified] ?? "stop");
    const events = this.#guard.finish(end);
    return [...events.flatMap((event) => this.#parts(event)), ...this.close()];
  }

  /** Returns the finish reason. A server that does not see the calls reports `stop` instead. */
  reason(reason) {
    const isCall = reason.unified === "stop" && this.#completed > 0;
    return isCall ? { ...reason, unified: "tool-calls" } : reason;
  }

  close() {
    if (!this.#open) return [];
    const { kind, id } = this.#open;
    this.#open = undefined;
    return [{ type: `${kind}-end`, id }];
  }

  #parts(event) {
    switch (event.kind) {
      case "content":
        return this.#text("text", event.text);
      case "reasoning":
        return this.#text("reasoning", event.text);
      case "call_start":
        this.#call = { id: event.id, name: event.name, input: "" };
        return [...this.close(), { type: "tool-input-start", id: event.id, toolName: event.name }];
      case "call_arguments":
        this.#call.input += event.fragment;
        return [{ type: "tool-input-delta", id: this.#call.id, delta: event.fragment }];
      case "call_end":
        return this.#callEnd(event.outcome);
      default:
        return [];
    }
  }

  #text(kind, delta) {
    const parts = [];
    if (this.#open?.kind !== kind) {
      parts.push(...this.close());
      this.#open = { kind, id: `${kind}-${this.#count++}` };
      parts.push({ type: `${kind}-start`, id: this.#open.id });
    }
    parts.push({ type: `${kind}-delta`, id: this.#open.id, delta });
    return parts;
  }

  #callEnd(outcome) {
    const { id, name, input } = this.#call;
    const parts = [{ type: "tool-input-end", id }];
    // An incomplete or malformed call must not run.
    if (outcome === "complete" || outcome === "repaired") {
      this.#completed += 1;
      parts.push({ type: "tool-call", toolCallId: id, toolName: name, input });
    }
    return parts;
  }
}

/** Adds parts of a stream to the content of a whole answer. */
function gather(content, parts, { providerMetadata }) {
  const more = providerMetadata ? { providerMetadata } : {};
  for (const part of parts) {
    if (part.type === "text-start") content.push({ type: "text", text: "", ...more });
    if (part.type === "reasoning-start") content.push({ type: "reasoning", text: "", ...more });
    if (part.type === "tool-call") content.push(part);
    if (part.type === "text-delta" || part.type === "reasoning-delta") {
      content.at(-1).text += part.delta;
    }
  }
}

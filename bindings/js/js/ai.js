// A middleware for language models of the Vercel AI SDK whose server leaves markup in the text.
import { Guard } from "toolcall-parsers/core";

import { Parts } from "./parts.js";

export { guardRequest, init } from "toolcall-parsers/core";

/** Returns a middleware for `wrapLanguageModel`. */
export function guardMiddleware(options = {}) {
  const { specificationVersion = "v4", onDiagnostic, ...settings } = options;
  // Wrong settings are an error before the request is sent.
  const messageOf = ({ params, model }) => new Parts(guardOf(settings, params, model), onDiagnostic);
  return {
    specificationVersion,
    async wrapGenerate(call) {
      const message = messageOf(call);
      try {
        return rewritten(await call.doGenerate(), message);
      } finally {
        message.free();
      }
    },
    async wrapStream(call) {
      const message = messageOf(call);
      try {
        const { stream, ...rest } = await call.doStream();
        return { ...rest, stream: stream.pipeThrough(new TransformStream(rewriter(message))) };
      } catch (error) {
        message.free();
        throw error;
      }
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

/** Returns a whole answer whose text was replaced by what it means. */
function rewritten(result, message) {
  const content = [];
  for (const part of result.content) {
    if (part.type === "text") {
      message.metadata = part.providerMetadata;
      gather(content, message.push(part.text));
    } else {
      gather(content, message.close());
      content.push(part);
    }
  }
  gather(content, message.finish(result.finishReason));
  return { ...result, content, finishReason: message.reason(result.finishReason) };
}

function rewriter(message) {
  const emit = (read, controller) => {
    try {
      for (const part of read()) controller.enqueue(part);
    } catch (error) {
      // A thrown error would overtake the parts before it. In this form it comes after them.
      for (const part of message.released(error)) controller.enqueue(part);
      controller.enqueue({ type: "error", error });
      controller.terminate();
      message.free();
    }
  };
  return {
    transform(part, controller) {
      switch (part.type) {
        case "text-start":
        case "text-end":
          // The guard decides where parts of text begin and end.
          message.metadata = part.providerMetadata ?? message.metadata;
          return;
        case "text-delta":
          message.metadata = part.providerMetadata ?? message.metadata;
          return emit(() => message.push(part.delta), controller);
        case "finish": {
          const end = () => [
            ...message.finish(part.finishReason),
            { ...part, finishReason: message.reason(part.finishReason) },
          ];
          emit(end, controller);
          return message.free();
        }
        case "reasoning-start":
        case "tool-input-start":
        case "tool-call":
          emit(() => message.close(), controller);
          return controller.enqueue(part);
        default:
          return controller.enqueue(part);
      }
    },
    flush(controller) {
      emit(() => message.finish(undefined), controller);
      message.free();
    },
    cancel: () => message.free(),
  };
}

/** Adds parts of a stream to the content of a whole answer. */
function gather(content, parts) {
  for (const part of parts) {
    const { providerMetadata } = part;
    const more = providerMetadata ? { providerMetadata } : {};
    if (part.type === "text-start") content.push({ type: "text", text: "", ...more });
    if (part.type === "reasoning-start") content.push({ type: "reasoning", text: "", ...more });
    if (part.type === "tool-call") content.push(part);
    if (part.type === "text-delta" || part.type === "reasoning-delta") {
      content.at(-1).text += part.delta;
    }
  }
}

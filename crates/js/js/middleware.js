// A middleware for language models of the Vercel AI SDK whose server leaves markup in the text.
import { isInPrompt, isNamed } from "./guards.js";
import { Parts } from "./parts.js";
import { Messages, toolsOf } from "./prompt.js";

/** Returns `guardMiddleware` over the functions of a module. */
export const middleware =
  ({ Guard, guardRequest }) =>
  (options = {}) => {
    const { specificationVersion = "v4", onDiagnostic, tools, ...settings } = options;
    const inPrompt = isInPrompt(tools);
    /** What was asked, by the parameters that were made from it. */
    const asked = new WeakMap();
    // Wrong settings are an error before the request is sent.
    const messageOf = ({ params, model }) =>
      new Parts(new Guard(messageSettings(settings, asked.get(params) ?? params, model)), onDiagnostic);
    return {
      specificationVersion,
      async transformParams({ params, model }) {
        if (!inPrompt) return params;
        const moved = withToolsInPrompt(guardRequest, namedBy(settings, model), params);
        asked.set(moved, params);
        return moved;
      },
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
  };

/** Returns settings that name a family: the given ones, or those of the model. */
function namedBy(settings, model) {
  return isNamed(settings) ? settings : { ...settings, model: model.modelId };
}

/** Returns the settings for one message. The request decides the tools, and the model the family. */
function messageSettings(settings, params, model) {
  const named = namedBy(settings, model);
  const { functions, choice } = toolsOf(params);
  if (functions.length === 0) return named;
  return { ...named, request: { ...settings.request, tools: functions, ...choice } };
}

/** Returns the parameters of a request whose tools are text of its messages. */
function withToolsInPrompt(guardRequest, named, params) {
  const { functions, others, choice } = toolsOf(params);
  const messages = new Messages(params.prompt);
  const request = { messages: messages.toChat(), tools: functions, ...choice };
  const { body } = guardRequest(request, { ...named, tools: "prompt" });
  const tools = others.length > 0 ? others : undefined;
  return { ...params, prompt: messages.fromChat(body.messages), tools, toolChoice: undefined };
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

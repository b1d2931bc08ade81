// Messages of the AI SDK as those of a chat completion, and back.
import { PACKAGE } from "./parts.js";

/** Returns the functions of a request and its rule about calls, in the form of the OpenAI API. */
export function toolsOf({ tools = [], toolChoice }) {
  const isFunction = (tool) => tool.type === "function";
  const functions = tools.filter(isFunction).map(({ name, description, inputSchema }) => ({
    type: "function",
    function: { name, description, parameters: inputSchema },
  }));
  const others = tools.filter((tool) => !isFunction(tool));
  let choice = {};
  if (toolChoice?.type === "tool") {
    choice = { tool_choice: { type: "function", function: { name: toolChoice.toolName } } };
  } else if (toolChoice) {
    choice = { tool_choice: toolChoice.type };
  }
  return { functions, others, choice };
}

/**
 * The messages of a request. Calls and results become those of chat completions. Everything else,
 * such as the bytes of a file, is kept here, and its place is marked: `{ kept: 3 }`.
 */
export class Messages {
  #messages;
  #kept = [];

  constructor(messages) {
    this.#messages = messages;
  }

  toChat() {
    return this.#messages.flatMap((message) => {
      const { role, content } = message;
      if (role === "tool") return this.#results(content);
      if (typeof content === "string") return [{ role, content, ...this.#keep(message) }];
      const calls = content.filter(isCall).map(callOf);
      const others = content.filter((part) => !isCall(part)).map((part) => this.#keep(shownAs(part)));
      const own = calls.length > 0 ? { tool_calls: calls } : {};
      return [{ role, content: others, ...own, ...this.#keep(message) }];
    });
  }

  fromChat(messages) {
    return messages.map(({ role, content, kept }) => {
      const message = this.#kept[kept];
      // Its parts are neither calls nor results.
      if (role === "kept") return message;
      if (role === "system") return { ...message, role, content };
      const parts = typeof content === "string" ? [{ type: "text", text: content }] : content;
      const restored = parts.map((part) => this.#kept[part.kept] ?? part);
      return { ...message, role, content: restored };
    });
  }

  #keep(value) {
    return { kept: this.#kept.push(value) - 1 };
  }

  #results(content) {
    const others = content.filter((part) => part.type !== "tool-result");
    const results = content.filter((part) => part.type === "tool-result");
    const messages = results.map(({ toolCallId, toolName, output }) => ({
      role: "tool",
      tool_call_id: toolCallId,
      name: toolName,
      content: this.#shown(output),
    }));
    if (others.length > 0) {
      messages.push({ role: "kept", ...this.#keep({ role: "tool", content: others }) });
    }
    return messages;
  }

  /** Returns what the model is shown of a result. Media are files of the message. */
  #shown({ type, value, reason }) {
    if (type === "execution-denied") return reason ?? "The call was denied.";
    if (type !== "content") return typeof value === "string" ? value : JSON.stringify(value ?? null);
    return value.map((part) => {
      if (part.type === "text") return { type: "text", text: part.text };
      const { data, mediaType } = part;
      if (data === undefined || !mediaType) return { type: "text", text: JSON.stringify(part) };
      return this.#keep({ type: "file", data, mediaType });
    });
  }
}

function isCall({ type, providerExecuted, providerOptions }) {
  return type === "tool-call" && !providerExecuted && !providerOptions?.[PACKAGE];
}

/** Returns a call that was refused as the text of the model. The SDK does not keep its input. */
function shownAs(part) {
  const refused = part.type === "tool-call" ? part.providerOptions?.[PACKAGE] : undefined;
  return refused ? { type: "text", text: refused.text } : part;
}

function callOf({ toolCallId, toolName, input }) {
  const text = typeof input === "string" ? input : JSON.stringify(input ?? {});
  return { id: toolCallId, type: "function", function: { name: toolName, arguments: text } };
}

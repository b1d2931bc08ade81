// A chat page whose model runs in the browser: text, reasoning and calls are shown while they arrive.
import { jsonSchema, streamText, tool, wrapLanguageModel } from "ai";
import { guardMiddleware, init } from "toolcall-parsers/ai";
import { ArgumentsView } from "toolcall-parsers/core";

import { replayedModel } from "./replayed-model.js";

const get = (id) => document.getElementById(id);
const tools = {
  get_weather: tool({
    description: "The weather in a city",
    inputSchema: jsonSchema({ type: "object", properties: { city: { type: "string" } } }),
  }),
};

/** Shows a call, whose arguments are a value from their first fragment on. */
class Call {
  #view = new ArgumentsView();
  #value = document.createElement("pre");
  #state = document.createElement("span");

  constructor(name) {
    const card = document.createElement("div");
    card.className = "call";
    card.append(`${name}: `, this.#state, this.#value);
    this.#state.textContent = "arriving";
    get("calls").append(card);
  }

  add(fragment) {
    this.#view.push(fragment);
    this.#value.textContent = JSON.stringify(this.#view.value, null, 2);
  }

  complete() {
    this.#state.textContent = "complete";
  }
}

await init();
const model = wrapLanguageModel({ model: replayedModel(), middleware: guardMiddleware() });
const { fullStream } = streamText({ model, tools, prompt: "What is the weather in Paris and Malmö?" });
const calls = new Map();
get("state").textContent = "Answering…";
for await (const part of fullStream) {
  switch (part.type) {
    case "reasoning-delta":
      get("reasoning").append(part.text);
      break;
    case "text-delta":
      get("answer").append(part.text);
      break;
    case "tool-input-start":
      calls.set(part.id, new Call(part.toolName));
      break;
    case "tool-input-delta":
      calls.get(part.id).add(part.delta);
      break;
    case "tool-call":
      calls.get(part.toolCallId).complete();
      break;
    case "finish":
      get("state").textContent = `Finished: ${part.finishReason}`;
      break;
    case "error":
      get("state").textContent = String(part.error);
      break;
    default:
      break;
  }
}

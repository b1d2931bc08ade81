// The official Node clients against the demo: BASE_URL.

import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, jsonSchema, streamText, tool } from "ai";
import OpenAI from "openai";

const base = process.argv[2];
const client = new OpenAI({ baseURL: `${base}/v1`, apiKey: "none", maxRetries: 0 });
const messages = [{ role: "user", content: "Hi" }];
const models = {
  "Qwen/Qwen3-8B": ["get_weather"],
  "NousResearch/Hermes-3-Llama-3.1-8B": ["get_weather", "get_time"],
  "mistralai/Mistral-7B-Instruct-v0.3": ["search", "search"],
  "deepseek-ai/DeepSeek-V3.1": ["get_weather"],
};
let checks = 0;

function check(what, ...said) {
  checks += 1;
  if (!what) {
    console.error("failed:", JSON.stringify(said));
    process.exit(1);
  }
}

const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);

for (const [model, names] of Object.entries(models)) {
  const stream = client.chat.completions.stream({ model, messages });
  const final = await stream.finalChatCompletion();
  const calls = final.choices[0].message.tool_calls;
  check(same(calls.map((call) => call.function.name), names), model, calls);
  calls.forEach((call) => check(typeof JSON.parse(call.function.arguments) === "object", call));
  check(final.choices[0].finish_reason === "tool_calls", model, final);

  const guarded = { headers: { "x-llm-stream-guard": "on" } };
  const text = await client.completions.create({ model, prompt: "Hi" }, guarded);
  check(same(text.choices[0].tool_calls.map((call) => call.function.name), names), model, text);

  const response = await client.responses.stream({ model, input: "Hi" }).finalResponse();
  const items = response.output.filter((item) => item.type === "function_call");
  check(same(items.map((item) => item.name), names), model, response);

  const provider = createOpenAICompatible({ name: "guarded", baseURL: `${base}/v1` });
  const schema = jsonSchema({ type: "object", additionalProperties: true });
  const tools = Object.fromEntries(names.map((name) => [name, tool({ description: "", inputSchema: schema })]));
  const ask = { model: provider(model), prompt: "Hi", tools };
  const streamed = streamText(ask);
  for await (const part of streamed.fullStream) {
    check(part.type !== "error", model, String(part.error));
  }
  check(same((await streamed.toolCalls).map((call) => call.toolName), names), model);
  check((await streamed.finishReason) === "tool-calls", model, await streamed.finishReason);
  const whole = await generateText(ask);
  check(same(whole.toolCalls.map((call) => call.toolName), names), model);
  if (model.startsWith("Qwen/")) {
    check((await streamed.reasoningText)?.length > 0, model);
  }
}
console.log(`${checks} checks with openai and ai`);

// The Vercel AI SDK, with a provider whose answers are clean.
import { generateText, jsonSchema, stepCountIs, streamText, tool } from "ai";
import { createGuarded } from "toolcall-parsers/provider";

export async function run({ baseURL, question, stream, weather }) {
  const server = createGuarded({ name: "vllm", baseURL, guard: { server: "vllm" } });
  const options = {
    model: server("Qwen/Qwen3-8B"),
    prompt: question,
    stopWhen: stepCountIs(4),
    tools: {
      get_weather: tool({
        description: "The weather in a city",
        inputSchema: jsonSchema({ type: "object", properties: { city: { type: "string" } } }),
        execute: weather,
      }),
    },
  };
  const result = stream ? streamText(options) : await generateText(options);
  return await result.text;
}

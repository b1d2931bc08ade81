// The Vercel AI SDK, with the middleware.
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, jsonSchema, stepCountIs, streamText, tool, wrapLanguageModel } from "ai";
import { guardMiddleware, guardRequest } from "toolcall-parsers/ai";

export async function run({ baseURL, question, stream, weather }) {
  const server = createOpenAICompatible({
    name: "vllm",
    baseURL,
    transformRequestBody: (request) => guardRequest(request, { server: "vllm" }).body,
  });
  const options = {
    model: wrapLanguageModel({ model: server("Qwen/Qwen3-8B"), middleware: guardMiddleware() }),
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

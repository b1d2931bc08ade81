// The Vercel AI SDK, with the middleware.
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, jsonSchema, stepCountIs, streamText, tool, wrapLanguageModel } from "ai";
import { guardMiddleware, guardRequest } from "toolcall-parsers/ai";

export async function run({ baseURL, ...rest }) {
  const server = createOpenAICompatible({
    name: "vllm",
    baseURL,
    transformRequestBody: (request) => guardRequest(request, { server: "vllm" }).body,
  });
  const middleware = guardMiddleware();
  return asked(wrapLanguageModel({ model: server("Qwen/Qwen3-8B"), middleware }), rest);
}

/** Asks a model that may call a tool, and returns the text of its last answer. */
export async function asked(model, { question, stream, weather }) {
  const options = {
    model,
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

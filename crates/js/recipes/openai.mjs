// The client of OpenAI, with its loop over tools.
import OpenAI from "openai";
import { guardFetch } from "toolcall-parsers";

export async function run({ baseURL, question, stream, weather }) {
  const client = new OpenAI({ baseURL, apiKey: "none", fetch: guardFetch({ server: "vllm" }) });
  const runner = client.chat.completions.runTools({
    model: "Qwen/Qwen3-8B",
    messages: [{ role: "user", content: question }],
    stream,
    tools: [
      {
        type: "function",
        function: {
          name: "get_weather",
          description: "The weather in a city",
          parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
          parse: JSON.parse,
          function: weather,
        },
      },
    ],
  });
  return runner.finalContent();
}

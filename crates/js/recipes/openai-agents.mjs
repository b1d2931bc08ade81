// An agent of the OpenAI Agents SDK.
import { Agent, OpenAIChatCompletionsModel, Runner, tool } from "@openai/agents";
import OpenAI from "openai";
import { guardFetch } from "toolcall-parsers";
import { z } from "zod";

export async function run({ baseURL, question, stream, weather }) {
  const client = new OpenAI({ baseURL, apiKey: "none", fetch: guardFetch({ server: "vllm" }) });
  const agent = new Agent({
    name: "weather",
    model: new OpenAIChatCompletionsModel(client, "Qwen/Qwen3-8B"),
    tools: [
      tool({
        name: "get_weather",
        description: "The weather in a city",
        parameters: z.object({ city: z.string() }),
        execute: weather,
      }),
    ],
  });
  const runner = new Runner({ tracingDisabled: true });
  const result = await runner.run(agent, question, { stream });
  if (stream) await result.completed;
  return result.finalOutput;
}

// An agent of LangChain.js.
import { ChatOpenAI } from "@langchain/openai";
import { createAgent, tool } from "langchain";
import { guardFetch } from "toolcall-parsers";
import { z } from "zod";

export async function run({ baseURL, question, stream, weather }) {
  // The agent closes the arguments of a call that was cut, and runs it. So it gets whole calls, and
  // one that cannot run is text of the answer.
  const fetch = guardFetch({ server: "vllm", calls: "whole", brokenCalls: "release" });
  const model = new ChatOpenAI({
    model: "Qwen/Qwen3-8B",
    apiKey: "none",
    maxRetries: 0,
    configuration: { baseURL, fetch },
  });
  const getWeather = tool(weather, {
    name: "get_weather",
    description: "The weather in a city",
    schema: z.object({ city: z.string() }),
  });
  const agent = createAgent({ model, tools: [getWeather] });
  const input = { messages: [{ role: "user", content: question }] };
  let state;
  if (stream) {
    const streamMode = ["messages", "values"];
    for await (const [mode, part] of await agent.stream(input, { streamMode })) {
      if (mode === "values") state = part;
    }
  } else {
    state = await agent.invoke(input);
  }
  const last = state.messages.at(-1);
  // An agent ends with a call that it cannot read.
  if (last.invalid_tool_calls?.length > 0) throw new Error(last.invalid_tool_calls[0].error);
  return last.text;
}

// Tools in the prompt through `guardFetch` and the official client: JSON with the server, the tools
// and the families. Prints a choice for each request.

import OpenAI from "openai";
import { guardFetch } from "toolcall-parsers";

const { server, tools, families } = JSON.parse(process.argv[2]);

for (const family of families) {
  const fetch = guardFetch({ family, server: "llama.cpp", tools: "prompt" });
  const client = new OpenAI({ baseURL: server, apiKey: "none", fetch });
  for (const [seed, stream] of [[1, true], [2, false], [3, true], [4, false]]) {
    const body = {
      model: family,
      messages: [{ role: "user", content: "Cancel room 214, please." }],
      tools,
      tool_choice: "required",
      parallel_tool_calls: false,
      max_tokens: 300,
      temperature: 0.7,
      seed,
    };
    const answer = stream
      ? await client.chat.completions.stream(body).finalChatCompletion()
      : await client.chat.completions.create(body);
    const { message, finish_reason } = answer.choices[0];
    console.log(JSON.stringify([family, { message, finish_reason }]));
  }
}

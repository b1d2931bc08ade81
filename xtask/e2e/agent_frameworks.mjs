// An agent made with Vercel's ai: NAME BASE_URL PICTURE. A line in is a prompt, a line out what became of it.

import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { stepCountIs, jsonSchema, streamText, tool } from "ai";

const [name, base, picture] = process.argv.slice(2);
const options = { name: "guarded", apiKey: "none", baseURL: `${base}/v1` };
const providers = {
  "ai-chat": () => createOpenAICompatible(options)("gpt-4.1"),
  "ai-responses": () => createOpenAI(options)("gpt-4.1"),
};
const model = providers[name]();
const data = readFileSync(picture).toString("base64");
const properties = { path: { type: "string" } };
const called = [];
const look = tool({
  description: "Shows a picture.",
  inputSchema: jsonSchema({ type: "object", properties, required: ["path"] }),
  execute: async ({ path }) => {
    called.push(path);
    return "Here it is.";
  },
  toModelOutput: () => ({ type: "content", value: [{ type: "image-data", data, mediaType: "image/png" }] }),
});
const messages = [];

for await (const line of createInterface({ input: process.stdin })) {
  called.length = 0;
  let failed = false;
  let said = "";
  messages.push({ role: "user", content: JSON.parse(line) });
  try {
    const result = streamText({ model, messages, tools: { look }, maxRetries: 0, stopWhen: stepCountIs(4), onError: () => {} });
    for await (const part of result.fullStream) {
      if (part.type === "error") throw part.error;
      if (part.type === "text-delta") said += part.text;
    }
    messages.push(...(await result.response).messages);
  } catch (error) {
    failed = true;
    said = String(error.message ?? error);
  }
  console.log(JSON.stringify({ said, failed, called }));
}

// The official Node clients over damaged calls: JSON with the addresses and what the guard says.

import Anthropic from "@anthropic-ai/sdk";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, jsonSchema, streamText, tool } from "ai";
import OpenAI from "openai";

const { model: base, addresses, expected } = JSON.parse(process.argv[2]);
const messages = [{ role: "user", content: "Hi" }];
let checks = 0;

function check(what, ...said) {
  checks += 1;
  if (!what) {
    console.error("failed:", JSON.stringify(said));
    process.exit(1);
  }
}

const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);

function objectOf(text) {
  try {
    const value = JSON.parse(text);
    return value && typeof value === "object" && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const chatCalls = (calls) =>
  (calls ?? []).map((it) => [it.function.name, objectOf(it.function.arguments)]).filter(([, it]) => it !== undefined);

async function refused(work) {
  try {
    return await work();
  } catch (error) {
    return { error: String(error) };
  }
}

async function chat(client, model) {
  const calls = new Map();
  for await (const chunk of await client.chat.completions.create({ model, messages, stream: true })) {
    for (const delta of chunk.choices[0]?.delta.tool_calls ?? []) {
      const kept = calls.get(delta.index) ?? { function: { name: "", arguments: "" } };
      kept.function.name += delta.function?.name ?? "";
      kept.function.arguments += delta.function?.arguments ?? "";
      calls.set(delta.index, kept);
    }
  }
  const whole = await client.chat.completions.create({ model, messages });
  const helper = await refused(async () => {
    const final = await client.chat.completions.stream({ model, messages }).finalChatCompletion();
    return chatCalls(final.choices[0].message.tool_calls);
  });
  return { chunks: chatCalls([...calls.values()]), whole: chatCalls(whole.choices[0].message.tool_calls), helper };
}

// The last call of a message that was cut does not run, unless the guard dropped the one that was cut.
function blocks(message, runs) {
  let calls = message.content.filter((block) => block.type === "tool_use");
  const cut = message.stop_reason === "max_tokens" && message.content.at(-1)?.type === "tool_use";
  if (cut && calls.length > runs.length) {
    calls = calls.slice(0, -1);
  }
  return calls.filter((block) => !("INVALID_JSON" in block.input)).map((block) => [block.name, block.input]);
}

async function ofMessages(client, model, runs) {
  const ask = { model, messages, max_tokens: 99 };
  const stream = await refused(async () => blocks(await client.messages.stream(ask).finalMessage(), runs));
  return { "messages stream": stream, "messages whole": blocks(await client.messages.create(ask), runs) };
}

const items = (response) =>
  response.output
    .filter((item) => item.type === "function_call" && item.status === "completed")
    .map((item) => [item.name, JSON.parse(item.arguments)]);

async function ofResponses(client, model) {
  const stream = await client.responses.stream({ model, input: "Hi" }).finalResponse();
  return { "responses stream": items(stream), "responses whole": items(await client.responses.create({ model, input: "Hi" })) };
}

async function vercel(address, model, runs) {
  const provider = createOpenAICompatible({ name: "guarded", baseURL: `${address}/v1` });
  const schema = jsonSchema({ type: "object", additionalProperties: true });
  const names = ["ping", "pong", "rm", "say"];
  const tools = Object.fromEntries(names.map((name) => [name, tool({ description: "", inputSchema: schema })]));
  const ask = { model: provider(model), prompt: "Hi", tools, maxRetries: 0 };
  const valid = (calls) => calls.filter((it) => !it.invalid).map((it) => [it.toolName, it.input]);
  const stream = await refused(async () => {
    const streamed = streamText({ ...ask, onError: () => {} });
    await streamed.consumeStream();
    return valid(await streamed.toolCalls);
  });
  const whole = await refused(async () => valid((await generateText(ask)).toolCalls));
  return { "ai stream": stream, "ai whole": whole };
}

for (const [name, { runs, outcomes }] of Object.entries(expected)) {
  const mayFail = outcomes.some((it) => it !== "complete" && it !== "repaired");
  for (const [setting, address] of Object.entries(addresses)) {
    const client = new OpenAI({ baseURL: `${address}/v1`, apiKey: "none", maxRetries: 0 });
    const messaged = new Anthropic({ baseURL: address, apiKey: "none", maxRetries: 0 });
    const model = `${base}/${name}`;
    const found = {
      ...(await chat(client, model)),
      ...(await ofMessages(messaged, model, runs)),
      ...(await ofResponses(client, model)),
      ...(await vercel(address, model, runs)),
    };
    for (const [how, calls] of Object.entries(found)) {
      // A client that raised an error ran nothing.
      check(calls.error ? mayFail : same(calls, runs), name, setting, how, calls, runs);
    }
  }
}
console.log(`${checks} checks with openai, @anthropic-ai/sdk and ai over damaged calls`);

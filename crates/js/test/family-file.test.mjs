// Families that the package does not know, from their files.
import assert from "node:assert/strict";
import { test } from "node:test";

import {
  encode,
  Guard,
  guardChunks,
  guardCompletion,
  guardFetch,
  guardMiddleware,
  guardRequest,
  guardSse,
  guardText,
  parse,
  SettingsError,
} from "toolcall-parsers";

const FILE = "reasoning.block = '<plan>{text}</plan>'\ncalls.call = '<run>{object}</run>'\n";
const OBJECT = { name: "mine", calls: { call: "<run>{object}</run>" } };
const CALL = '<run>{"name": "ring", "arguments": {"times": 2}}</run>';
const TEXT = `<plan>hm</plan>Hi. ${CALL}`;

async function through(stream, chunks) {
  const out = [];
  for await (const chunk of ReadableStream.from(chunks).pipeThrough(stream)) out.push(chunk);
  return out;
}

test("a family's file is read as TOML, as JSON and as an object", () => {
  const { content, reasoning, calls } = parse(TEXT, { familyFile: FILE });
  assert.deepEqual([content, reasoning, calls.length], ["Hi. ", "hm", 1]);
  for (const familyFile of [OBJECT, JSON.stringify(OBJECT)]) {
    assert.equal(new Guard({ familyFile }).family, "mine");
    assert.equal(parse(CALL, { familyFile }).calls[0].name, "ring");
  }
});

test("a file that is read again gives the same, with other settings too", () => {
  const settings = { familyFile: FILE, ids: "counting" };
  const first = parse(TEXT, settings);
  assert.deepEqual(parse(TEXT, settings), first);
  assert.equal(parse("<plan> b </plan> c", { ...settings, whitespace: "trim" }).reasoning, "b");
  assert.equal(parse(TEXT, { familyFile: FILE.replaceAll("run>", "go>") }).calls.length, 0);
});

test("every door takes a file", async () => {
  const settings = { familyFile: FILE };
  const events = await through(guardText(settings), [TEXT]);
  assert.ok(events.some((event) => event.kind === "call_start"));
  assert.equal(encode([{ name: "ring", arguments: { times: 2 } }], settings), CALL);
  const completion = { choices: [{ index: 0, message: { role: "assistant", content: TEXT }, finish_reason: "stop" }] };
  const nameOf = (answer) => answer.choices[0].message.tool_calls[0].function.name;
  assert.equal(nameOf(guardCompletion(completion, settings)), "ring");
  const chunk = { choices: [{ index: 0, delta: { content: TEXT }, finish_reason: "stop" }] };
  assert.match(JSON.stringify(await through(guardChunks(settings), [chunk])), /"tool_calls"/);
  const bytes = new TextEncoder().encode(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`);
  const clean = await through(guardSse(settings), [bytes]);
  assert.match(new TextDecoder().decode(clean[0]), /"tool_calls"/);

  const tools = [{ type: "function", function: { name: "ring" } }];
  const request = { model: "nobody/knows", messages: [{ role: "user", content: "Hi" }], tools };
  const moved = guardRequest(request, { ...settings, tools: "prompt" }).body;
  assert.match(moved.messages[0].content, /<run>/);
  const sent = [];
  const fetch = async (_, { body }) => {
    sent.push(JSON.parse(body));
    return Response.json(completion);
  };
  const ask = guardFetch({ ...settings, server: "vllm", fetch });
  const answer = await ask("http://x/v1/chat/completions", { method: "POST", body: JSON.stringify(request) });
  assert.equal(nameOf(await answer.json()), "ring");
  assert.equal(sent[0].skip_special_tokens, false);

  const part = { type: "text", text: TEXT };
  const finishReason = { unified: "stop", raw: "stop" };
  const doGenerate = async () => ({ content: [part], finishReason });
  const call = { doGenerate, params: { prompt: [] }, model: { modelId: "nobody/knows" } };
  const { content } = await guardMiddleware(settings).wrapGenerate(call);
  assert.deepEqual(content.map(({ type }) => type), ["reasoning", "text", "tool-call"]);
});

test("a wrong file is refused with its field, before any request", async () => {
  const rows = [
    ["[calls]\ncall = 7", /^familyFile: own\.toml:2: `calls\.call`/],
    ["no", /^familyFile: own\.toml:1: /],
    ["calls.call = '<run>{object}</run>'\ncalls.cal = 1", /`calls\.cal`: unknown field/],
    [{ name: "x", calls: { call: "<run>{object" } }, /^familyFile: .*calls\.call/],
    [7, /^familyFile: /],
  ];
  for (const [familyFile, what] of rows) {
    const isRefused = (error) => error instanceof SettingsError && what.test(error.message);
    assert.throws(() => new Guard({ familyFile }), isRefused);
    let sent = 0;
    const ask = guardFetch({ familyFile, server: "vllm", fetch: () => (sent += 1) });
    const body = JSON.stringify({ model: "x", messages: [] });
    await assert.rejects(ask("http://x", { method: "POST", body }), isRefused);
    const call = { params: { prompt: [] }, model: { modelId: "x" } };
    const middleware = guardMiddleware({ familyFile });
    await assert.rejects(middleware.wrapStream({ ...call, doStream: () => (sent += 1) }), isRefused);
    assert.equal(sent, 0);
  }
  assert.throws(() => new Guard({ familyFile: FILE, family: "qwen3" }), /only one of/);
});

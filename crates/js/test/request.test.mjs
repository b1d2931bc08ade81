// Requests as servers need them.
import assert from "node:assert/strict";
import { test } from "node:test";

import { guardFetch, guardRequest, SettingsError } from "toolcall-parsers";
import * as core from "toolcall-parsers/core";

const tools = [{ type: "function", function: { name: "tide", parameters: { type: "object", properties: {} } } }];
const request = { model: "Qwen/Qwen3-8B", messages: [{ role: "user", content: "Hi" }], tools };

test("a request that demands a call is held to its grammar by each server", () => {
  const required = { ...request, tool_choice: "required" };
  const { body, isRaw, noGrammar } = guardRequest(required, { server: "vllm" });
  assert.deepEqual([isRaw, noGrammar, body.tool_choice], [true, undefined, "none"]);
  assert.match(body.structured_outputs.structural_tag, /<tool_call>/);
  const sglang = guardRequest(required, { server: "sglang" }).body;
  assert.deepEqual([sglang.tool_choice, sglang.response_format.type], ["auto", "structural_tag"]);
  assert.match(guardRequest(required, { server: "llama.cpp" }).body.grammar, /^root ::=/);
  assert.deepEqual(required.tool_choice, "required");
});

test("the core makes no grammars, and says so where a request demands one", () => {
  const free = core.guardRequest(request, { server: "vllm" });
  assert.deepEqual(free, guardRequest(request, { server: "vllm" }));
  const { body, isRaw, noGrammar } = core.guardRequest({ ...request, tool_choice: "required" }, { server: "vllm" });
  assert.deepEqual([isRaw, body.tool_choice, body.structured_outputs], [true, "none", undefined]);
  assert.match(noGrammar, /the core/);
});

test("a named call and a strict tool are held, a free choice is not", () => {
  const named = { ...request, tool_choice: { type: "function", function: { name: "tide" } } };
  assert.match(guardRequest(named, { server: "llama.cpp" }).body.grammar, /tide/);
  const strict = [{ ...tools[0], function: { ...tools[0].function, strict: true } }];
  assert.ok(guardRequest({ ...request, tools: strict }, { server: "vllm" }).body.structured_outputs);
  const { body } = guardRequest(request, { server: "vllm" });
  assert.deepEqual([body.structured_outputs, body.tool_choice, body.skip_special_tokens], [undefined, "none", false]);
});

test("the form of an answer is applied after its thought", () => {
  const schema = { type: "object", required: ["city"], additionalProperties: false, properties: { city: { type: "string" } } };
  const response_format = { type: "json_schema", json_schema: { schema } };
  const { body } = guardRequest({ ...request, tools: undefined, response_format }, { server: "llama.cpp" });
  assert.match(body.grammar, /<think>/);
  assert.equal(body.response_format, undefined);
});

test("a demand holds also for tools in the prompt", () => {
  const required = { ...request, model: "nobody/knows", tool_choice: "required" };
  const settings = { server: "llama.cpp", tools: "prompt", family: "json_in_tags" };
  const { body } = guardRequest(required, settings);
  assert.equal(body.tools, undefined);
  assert.match(body.grammar, /tide/);
});

test("requests to unknown models are forwarded, and demands that cannot be held are reported", () => {
  const unknown = { ...request, model: "nobody/knows" };
  const free = guardRequest(unknown, { server: "vllm" });
  assert.deepEqual([free.isRaw, "noGrammar" in free], [true, false]);
  const held = guardRequest({ ...unknown, tool_choice: "required" }, { server: "vllm" });
  assert.deepEqual([held.isRaw, held.body.structured_outputs], [true, undefined]);
  assert.match(held.noGrammar, /not known/);
  const { noGrammar, body } = guardRequest({ ...request, tools: undefined, regex: "a+" }, { server: "llama.cpp" });
  assert.match(noGrammar, /XGrammar only/);
  assert.equal(body.grammar, undefined);
  assert.throws(
    () => guardRequest({ ...unknown, tool_choice: "required" }, { server: "vllm", family: "no-such" }),
    (error) => error instanceof SettingsError && error.code === "unknown_family",
  );
  assert.throws(() => guardRequest(request, { server: "tgi" }), /server: expected one of `vllm`/);
});

test("reserved delimiters are remapped in requests and restored in answers", async () => {
  const profile = { name: "mine", tools: "json_in_tags", remap: "hermes" };
  const system = { role: "system", content: "Write <tool_call>." };
  const asked = { ...request, tool_choice: "required", messages: [system, ...request.messages] };
  for (const settings of [{ server: "vllm" }, { server: "other" }, { server: "vllm", tools: "prompt" }, { tools: "prompt" }]) {
    const { body, noGrammar } = guardRequest(asked, { ...settings, profile });
    const [{ content }] = body.messages;
    assert.ok(content.startsWith("Write [[CALL]]."), content);
    assert.ok(!content.includes("<tool_call>"), content);
    assert.equal(content.includes("[[/CALL]]"), settings.tools === "prompt", content);
    if (settings.server === "vllm") assert.match(noGrammar, /remapped/);
  }
  assert.equal(asked.messages[0].content, "Write <tool_call>.");

  const message = { role: "assistant", content: '[[CALL]]{"name": "tide", "arguments": {}}[[/CALL]]' };
  const fetch = async () => Response.json({ choices: [{ index: 0, message, finish_reason: "stop" }] });
  const ask = guardFetch({ server: "vllm", tools: "prompt", profile, fetch });
  const answer = await ask("http://x", { method: "POST", body: JSON.stringify(asked) });
  assert.equal((await answer.json()).choices[0].message.tool_calls[0].function.name, "tide");
});

test("ids of tokens are asked for if the marker tokens have ids", () => {
  const asks = (markerTokens) => guardRequest(request, { server: "vllm", markerTokens }).body.return_token_ids;
  assert.deepEqual([asks({ "<think>": 7 }), asks(["<think>"]), asks(undefined)], [true, undefined, undefined]);
});

test("a request of a fetch is held to its grammar", async () => {
  const sent = [];
  const fetch = async (_, { body }) => {
    sent.push(JSON.parse(body));
    const message = { role: "assistant", content: '<tool_call>{"name": "tide", "arguments": {}}</tool_call>' };
    return Response.json({ choices: [{ index: 0, message, finish_reason: "stop" }] });
  };
  const body = JSON.stringify({ ...request, tool_choice: "required" });
  const answer = await guardFetch({ server: "vllm", fetch })("http://x", { method: "POST", body });
  const { choices } = await answer.json();
  assert.equal(choices[0].message.tool_calls[0].function.name, "tide");
  assert.ok(sent[0].structured_outputs);
});

test("a fetch reports each demand to which the server is not held", async () => {
  const message = { role: "assistant", content: "Hi" };
  const fetch = async () => Response.json({ choices: [{ index: 0, message, finish_reason: "stop" }] });
  const reported = async (server, asked, settings) => {
    const seen = [];
    const onDiagnostic = (...notice) => seen.push(notice);
    const ask = guardFetch({ server, fetch, onDiagnostic, ...settings });
    await ask("http://x", { method: "POST", body: JSON.stringify(asked) });
    return seen;
  };
  const required = { ...request, tool_choice: "required" };
  assert.deepEqual(await reported("vllm", required), []);
  assert.deepEqual(await reported("vllm", request), []);
  const regex = { ...request, tools: undefined, regex: "a+" };
  const [[notice, choice], ...rest] = await reported("llama.cpp", regex);
  assert.deepEqual([notice.kind, choice, rest], ["no_grammar", undefined, []]);
  assert.match(notice.reason, /XGrammar only/);
  // This server reads demands itself, and takes no grammars.
  assert.deepEqual(await reported("ollama", required), []);
  // Without a listener, the request is sent all the same.
  await reported("llama.cpp", regex, { onDiagnostic: undefined });
});

test("a fetch reads answers of one chunk a line, cut anywhere", async () => {
  const chunk = (delta, finish_reason = null) => `${JSON.stringify({ choices: [{ index: 0, delta, finish_reason }] })}\r\n`;
  const text = '<think>é</think><tool_call>{"name": "tide", "arguments": {}}</tool_call>';
  const other = ['{"note":"kept"}\n', "\n", "not JSON\n"];
  const body = [chunk({ content: text }), ...other, chunk({}, "tool_calls").trimEnd()].join("");
  const bytes = new TextEncoder().encode(body);
  const answered = async (pieces) => {
    const headers = { "content-type": "application/x-ndjson; charset=utf-8" };
    const fetch = async () => new Response(ReadableStream.from(pieces), { headers });
    const ask = guardFetch({ server: "vllm", fetch });
    const answer = await ask("http://x", { method: "POST", body: JSON.stringify(request) });
    return (await answer.text()).replace(/"call_[a-z0-9]+"/, '"id"');
  };

  const whole = await answered([bytes]);
  for (const kept of other) assert.ok(whole.includes(kept), kept);
  const chunks = whole.split("\n").flatMap((line) => (line.startsWith('{"choices"') ? [JSON.parse(line).choices[0]] : []));
  const joined = (field) => chunks.map(({ delta }) => delta[field] ?? "").join("");
  const [start] = chunks.flatMap(({ delta }) => delta.tool_calls ?? []);
  assert.deepEqual([joined("reasoning_content"), joined("content"), start.function.name], ["é", "", "tide"]);
  assert.deepEqual(chunks.map((choice) => choice.finish_reason).filter(Boolean), ["tool_calls"]);
  for (let cut = 1; cut < bytes.length; cut += 1) {
    assert.equal(await answered([bytes.slice(0, cut), bytes.slice(cut)]), whole, `cut at ${cut}`);
  }
});

test("the last line of an answer that was cut is read before the error", async () => {
  const line = JSON.stringify({ choices: [{ index: 0, delta: { content: "Hi" }, finish_reason: null }] });
  const headers = { "content-type": "application/x-ndjson" };
  const fetch = async () => new Response(line, { headers });
  const answer = await guardFetch({ server: "vllm", fetch })("http://x", { method: "POST", body: JSON.stringify(request) });
  const reader = answer.body.getReader();
  assert.match(new TextDecoder().decode((await reader.read()).value), /"content":"Hi"/);
  await assert.rejects(async () => {
    while (!(await reader.read()).done);
  }, (error) => error.name === "StreamError" && error.code === "unfinished");
});

test("a line without an end is an error after the lines before it", async () => {
  const line = `${JSON.stringify({ choices: [{ index: 0, delta: { content: "Hi" }, finish_reason: null }] })}\n`;
  const pieces = [line, "x".repeat(8 * 1024 * 1024), "x"].map((text) => new TextEncoder().encode(text));
  const headers = { "content-type": "application/jsonl" };
  const fetch = async () => new Response(ReadableStream.from(pieces), { headers });
  const answer = await guardFetch({ server: "vllm", fetch })("http://x", { method: "POST", body: JSON.stringify(request) });
  const reader = answer.body.getReader();
  assert.match(new TextDecoder().decode((await reader.read()).value), /"content":"Hi"/);
  await assert.rejects(reader.read(), (error) => error.name === "StreamError" && error.code === "limit");
});

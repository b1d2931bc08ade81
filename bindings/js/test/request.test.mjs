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

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";

import {
  ArgumentsView,
  detect,
  encode,
  explain,
  explainPage,
  families,
  Guard,
  guardSse,
  guardText,
  init,
  parse,
  SettingsError,
} from "toolcall-parsers";

const CALL = '<tool_call>{"name": "ring", "arguments": {"times": 2}}</tool_call>';

async function through(transform, chunks) {
  const out = [];
  for await (const item of ReadableStream.from(chunks).pipeThrough(transform)) out.push(item);
  return out;
}

test("init may be called everywhere", () => init());

test("a guard gives typed events and goes on after a reset", () => {
  const guard = new Guard({ model: "Qwen/Qwen3-8B", ids: "counting" });
  const read = () => [...guard.push("<think>hm</thi"), ...guard.push(`nk>Hi. ${CALL}`), ...guard.finish()];
  const events = read();
  assert.deepEqual(events[0], { kind: "reasoning", text: "hm" });
  assert.deepEqual(events.at(-1), { kind: "call_end", index: 0, outcome: "complete" });
  assert.throws(() => guard.push("x"), /over/);
  guard.reset();
  assert.deepEqual(read(), events);
  assert.equal(guard.family, "qwen3");
});

test("a whole text is a message", () => {
  const { content, reasoning, calls } = parse(`<think>hm</think>Hi. ${CALL}`, { family: "qwen3" });
  assert.deepEqual({ content, reasoning }, { content: "Hi. ", reasoning: "hm" });
  const [{ name, arguments: text, outcome }] = calls;
  assert.deepEqual([name, JSON.parse(text), outcome], ["ring", { times: 2 }, "complete"]);
  assert.equal(parse("hm</think>Hi.", { family: "qwen3", start: "reasoning" }).reasoning, "hm");
  assert.equal(parse(CALL.slice(0, 45), { family: "qwen3", end: "length" }).calls[0].outcome, "incomplete");
  assert.equal(parse("<think> a </think> b ", { family: "qwen3", whitespace: "trim" }).reasoning, "a");
});

test("two processes generate different ids", () => {
  const code = `import { parse } from "toolcall-parsers";
    console.log(parse(${JSON.stringify(CALL)}, { family: "hermes" }).calls[0].id);`;
  const line = ["--input-type=module", "--eval", code];
  const [one, other] = [0, 1].map(() => execFileSync(process.execPath, line, { encoding: "utf8" }).trim());
  assert.match(one, /^call_[0-9a-z]{24}$/);
  assert.notEqual(one, other);
});

test("text may be cut inside a surrogate pair", () => {
  const guard = new Guard({ family: "qwen3" });
  const events = [..."a🌱b".split("").flatMap((unit) => guard.push(unit)), ...guard.finish()];
  assert.equal(events.map((event) => event.text).join(""), "a🌱b");
  guard.reset();
  guard.push("\ud83c");
  assert.deepEqual(guard.finish(), [{ kind: "content", text: "\ufffd" }]);
});

test("wrong settings are reported with their name", () => {
  for (const [settings, what] of [
    [{}, /expected one of `model`/],
    [{ family: "no such" }, /no such/],
    [{ family: "qwen3", model: "x" }, /only one/],
    [{ family: "qwen3", colour: 1 }, /colour/],
    [{ family: "qwen3", start: "end" }, /start/],
    [{ family: "qwen3", tools: 7 }, /tools/],
    [{ family: "qwen3", token_suffix: ":x" }, /unexpected setting `token_suffix`/],
    [{ family: "qwen3", tokenSuffix: 7 }, /^tokenSuffix: .*expected a string/],
    [{ family: "qwen3", markerTokens: ["<a>", 7] }, /^markerTokens: .*expected a string/],
    [{ family: "qwen3", whitespace: "none" }, /`before_calls`, `reasoning_end`, found `none`/],
    [{ family: "qwen3", limits: { depth: 0 } }, /^limits: limit `depth` is 0/],
  ]) {
    assert.throws(() => new Guard(settings), (error) => error instanceof SettingsError && what.test(error.message));
  }
});

test("streams of text become streams of events", async () => {
  const events = await through(guardText({ family: "qwen3" }), ["<thi", "nk>a", "</think>", new TextEncoder().encode("b")]);
  assert.deepEqual(events, [{ kind: "reasoning", text: "a" }, { kind: "content", text: "b" }]);
});

test("event streams are cleaned, and an unfinished one is an error", async () => {
  const chunk = (delta, finish_reason = null) =>
    new TextEncoder().encode(`data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason }] })}\n\n`);
  const start = chunk({ content: CALL });
  const clean = await through(guardSse({ family: "hermes" }), [
    start.slice(0, 30),
    start.slice(30),
    chunk({}, "stop"),
    new TextEncoder().encode("data: [DONE]\n\n"),
  ]);
  const text = clean.map((bytes) => new TextDecoder().decode(bytes)).join("");
  assert.match(text, /"tool_calls"/);
  assert.match(text, /"finish_reason":"tool_calls"/);
  assert.doesNotMatch(text, /<tool_call>/);
  await assert.rejects(through(guardSse({ family: "hermes" }), [start]));
});

test("streams with token ids are read by them", async () => {
  const typed = [["<think>", 7], ["The </think>", 21], [" tag", 22], ["</think>", 8], ["Yes", 23]];
  const event = (choice) => `data: ${JSON.stringify({ id: "c", choices: [{ index: 0, ...choice }] })}\n\n`;
  const events = typed.map(([content, id]) => event({ delta: { content }, token_ids: [id] }));
  const wire = [...events, event({ delta: {}, finish_reason: "stop" }), "data: [DONE]\n\n"].join("");
  const markerTokens = { "<think>": 7, "</think>": 8 };
  const read = async (settings) => {
    const clean = await through(guardSse(settings), [new TextEncoder().encode(wire)]);
    const text = clean.map((bytes) => new TextDecoder().decode(bytes)).join("");
    const chunks = text.split("\n").filter((line) => line.startsWith("data: {"));
    const deltas = chunks.map((line) => JSON.parse(line.slice(6)).choices[0].delta);
    return deltas.map((delta) => delta.reasoning_content ?? "").join("");
  };
  assert.equal(await read({ family: "qwen3", markerTokens }), "The </think> tag");
  assert.equal(await read({ family: "qwen3" }), "The ");
  for (const wrong of [["<think>"], { "<think>": "7" }]) {
    assert.throws(() => guardSse({ family: "qwen3", markerTokens: wrong }), SettingsError);
  }
});

test("calls are written as a family writes them", () => {
  assert.equal(
    encode([{ name: "ring", arguments: { times: 2 } }], { family: "qwen3_coder" }),
    "<tool_call>\n<function=ring>\n<parameter=times>\n2\n</parameter>\n</function>\n</tool_call>",
  );
  assert.equal(detect("<|channel|>analysis<|message|>hm<|end|>").family, "harmony");
  assert.ok(families().includes("qwen3"));
});

test("a view of arguments changes one value and names the paths", () => {
  const view = new ArgumentsView();
  const { value } = view;
  assert.deepEqual(view.push('{"city": "Par'), [[], ["city"]]);
  const top = view.value;
  assert.deepEqual(view.push('is", "days": 1'), [["city"]]);
  assert.deepEqual(view.push('2, "in": [{"a": true'), [["days"], ["in"], ["in", 0], ["in", 0, "a"]]);
  assert.deepEqual(view.push("}]}"), []);
  assert.deepEqual(view.value, { city: "Paris", days: 12, in: [{ a: true }] });
  assert.equal(view.value, top);
  assert.deepEqual(value, {});
  assert.ok(view.isComplete);
});

test("a key called __proto__ is a member like any other", () => {
  const view = new ArgumentsView();
  const text = '{"__proto__": {"polluted": "y"}, "b": {"__proto__": "t"}}';
  for (const unit of text) view.push(unit);
  assert.equal(JSON.stringify(view.value), JSON.stringify(JSON.parse(text)));
  assert.equal({}.polluted, undefined);
  assert.equal(view.value.polluted, undefined);
});

test("every cut of arguments gives the value of JSON.parse", () => {
  const text = '{"a": "x\\"\\ud83c\\udf31🌱\\\\", "b\\n": [1, {"c": true, "d": []}], "a": null, "e": -1.5}';
  for (let cut = 0; cut <= text.length; cut++) {
    const view = new ArgumentsView();
    view.push(text.slice(0, cut));
    view.push(text.slice(cut));
    assert.deepEqual(view.value, JSON.parse(text), `cut at ${cut}`);
  }
});

test("a recording is explained as data and as a page", () => {
  const recording = 'data: {"choices":[{"index":0,"delta":{"content":"Let me see.</think>Hi."}}]}\n\n';
  const { explanations } = explain(recording, { family: "qwen3" });
  assert.equal(explanations[0].summary.findings[0].kind, "prompt_opened_reasoning");
  assert.equal(explain("[TOOL_CALLS]ring[ARGS]{}").explanations[0].name, "mistral");
  const page = explainPage(recording, { family: "qwen3", name: "<b>" });
  assert.match(page, /^<!DOCTYPE html>/i);
  assert.doesNotMatch(page, /"<b>"/);
});

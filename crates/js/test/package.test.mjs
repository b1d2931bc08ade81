import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
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
  StateError,
  StreamError,
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

test("errors have codes, and name what the package offers", () => {
  const errorOf = (settings) => {
    try {
      return new Guard(settings);
    } catch (error) {
      return error;
    }
  };
  for (const settings of [{ model: "no-such" }, { request: { model: "no-such" } }]) {
    const { code, message } = errorOf(settings);
    assert.equal(code, "unknown_model");
    assert.match(message, /`no-such`.*`families`.*`detect`/);
    assert.doesNotMatch(message, /llm-stream-guard/);
  }
  assert.equal(errorOf({ family: "no-such" }).code, "unknown_family");
  assert.equal(errorOf({}).code, "invalid_settings");
  assert.equal(errorOf({ family: 7 }).code, "invalid_settings");
  assert.equal(errorOf({ colour: 7 }).code, "invalid_settings");
});

test("a model's settings hold also when the model is known already", () => {
  const read = (settings) => parse("<think>hm</think>\n\nHi.", { model: "Qwen/Qwen3-8B", ...settings });
  const first = read({ whitespace: "verbatim" });
  const second = read({ whitespace: "trim" });
  assert.deepEqual([first.content, second.content], ["\n\nHi.", "Hi."]);
  assert.deepEqual(read({ whitespace: "verbatim" }), first);
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

const LONE = new TextEncoder().encode(
  `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: "hm</think>Hi." } }] })}\n\n`,
);

test("an error of a stream follows all output before it", async () => {
  const reader = ReadableStream.from([LONE, LONE]).pipeThrough(guardSse({ family: "qwen3" })).getReader();
  const read = [];
  const fault = await (async () => {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return undefined;
      read.push(new TextDecoder().decode(value));
    }
  })().catch((error) => error);
  assert.equal(read.length, 2);
  assert.ok(fault instanceof StreamError);
  assert.equal(fault.code, "unfinished");
  // Nothing is lost either if the reader is slow.
  const slow = ReadableStream.from([LONE]).pipeThrough(guardSse({ family: "qwen3" })).getReader();
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.match(new TextDecoder().decode((await slow.read()).value), /Hi/);
  await assert.rejects(slow.read(), StreamError);
});

test("a stream that is no longer read cancels upstream", async () => {
  let cancelled;
  const source = new ReadableStream({
    pull: (controller) => controller.enqueue("text"),
    cancel: (reason) => {
      cancelled = reason;
    },
  });
  const reader = source.pipeThrough(guardText({ family: "qwen3" })).getReader();
  assert.deepEqual((await reader.read()).value, { kind: "content", text: "text" });
  await reader.cancel("enough");
  await new Promise((resolve) => setTimeout(resolve));
  assert.equal(cancelled, "enough");
});

test("the end of a stream of text can be told", async () => {
  const cut = [CALL.slice(0, 48)];
  const outcome = async (end) => (await through(guardText({ family: "hermes", end }), cut)).at(-1);
  const incomplete = { kind: "call_end", index: 0, outcome: "incomplete" };
  assert.deepEqual(await outcome("length"), incomplete);
  let asked = 0;
  const late = () => {
    asked += 1;
    return "aborted";
  };
  assert.deepEqual(await outcome(late), incomplete);
  assert.equal(asked, 1);
  await assert.rejects(outcome("tired"), SettingsError);
});

test("diagnostics of event streams are reported with their choice", async () => {
  const seen = [];
  const onDiagnostic = ({ kind }, choice) => seen.push([kind, choice]);
  await assert.rejects(through(guardSse({ family: "qwen3", onDiagnostic }), [LONE]));
  assert.deepEqual(seen, [["orphan_closer", 0]]);
});

test("the text of a call is found, exactly", () => {
  const bad = (city) => `<tool_call>\n{"name": "ring", "arguments": {"city": ${city}}}\n</tool_call>`;
  const guard = new Guard({ family: "hermes" });
  const text = `Wait. ${CALL}\n${bad("Paris at night")} Then ${bad("Malmö, by day")} Done.`;
  const open = (call) => call.replace(/\s*<\/tool_call>$/, "");
  assert.equal(guard.callText(text, 0), open(CALL));
  assert.equal(guard.callText(text, 1), open(bad("Paris at night")));
  assert.equal(guard.callText(text, 2), open(bad("Malmö, by day")));
  assert.equal(guard.callText(text, 3), undefined);
  assert.equal(guard.callText(`Hm ${bad('"Par').slice(0, 60)}`, 0), bad('"Par').slice(0, 60));
});

test("what is freed or over says so", () => {
  const codeOf = (act) => {
    try {
      act();
    } catch (error) {
      assert.ok(error instanceof StateError, String(error));
      return error.code;
    }
    return undefined;
  };
  const guard = new Guard({ family: "qwen3" });
  guard.finish();
  assert.equal(codeOf(() => guard.push("x")), "over");
  assert.equal(codeOf(() => guard.finish()), "over");
  guard.free();
  guard.free();
  assert.equal(codeOf(() => guard.reset()), "freed");
  assert.equal(codeOf(() => guard.parse("x")), "freed");
  const view = new ArgumentsView();
  view[Symbol.dispose]();
  assert.equal(codeOf(() => view.push("{")), "freed");
});

test("memory does not grow with guards that are freed", () => {
  for (let count = 0; count < 2_000; count++) parse("Hi", { family: "qwen3" });
  const before = process.memoryUsage().rss;
  for (let count = 0; count < 20_000; count++) {
    const guard = new Guard({ family: "qwen3" });
    guard.push("Hi");
    guard.free();
  }
  const grown = process.memoryUsage().rss - before;
  assert.ok(grown < 60_000_000, `${grown} bytes more`);
});

test("the types name every kind of diagnostics", () => {
  const read = (path) => readFileSync(new URL(path, import.meta.url), "utf8");
  const [, union] = /type DiagnosticKind =(.*?);/s.exec(read("node_modules/toolcall-parsers/js/index.d.ts"));
  const typed = [...union.matchAll(/"(\w+)"/g)].map(([, kind]) => kind);
  const page = readFileSync(new URL("../../docs/diagnostics.md", `file://${process.env.VECTORS}/`), "utf8");
  const known = [...page.matchAll(/^\| `(\w+)`/gm)].map(([, kind]) => kind);
  assert.ok(known.length > 30);
  assert.deepEqual(typed, known);
});

test("calls are written as a family writes them", () => {
  assert.equal(
    encode([{ name: "ring", arguments: { times: 2 } }], { family: "qwen3_coder" }),
    "<tool_call>\n<function=ring>\n<parameter=times>\n2\n</parameter>\n</function>\n</tool_call>",
  );
  const [call] = parse(CALL, { family: "hermes" }).calls;
  const { id, name, arguments: json } = call;
  const openai = { id, type: "function", function: { name, arguments: json } };
  const written = [call, openai].map((call) => encode([call], { family: "hermes" }));
  assert.equal(written[0], written[1]);
  assert.match(written[0], /"times": ?2/);
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

test("a snapshot never changes, and shares what is whole", () => {
  const view = new ArgumentsView();
  view.push('{"done": {"a": [1]}, "open": {"b": [2, {"c": "x');
  const first = view.snapshot();
  assert.equal(view.snapshot(), first);
  view.push("");
  assert.equal(view.snapshot(), first);
  view.push('y"}, 3');
  const second = view.snapshot();
  view.push('], "__proto__": 1}}');
  assert.deepEqual(first, { done: { a: [1] }, open: { b: [2, { c: "x" }] } });
  assert.deepEqual(second, { done: { a: [1] }, open: { b: [2, { c: "xy" }] } });
  assert.equal(second.done, first.done);
  assert.notEqual(second.open, first.open);
  assert.equal(JSON.stringify(view.snapshot().open), '{"b":[2,{"c":"xy"},3],"__proto__":1}');
});

test("every snapshot of any text is what the view showed", () => {
  const text = '{"a": "x\\"", "b": [1, {"c": true, "d": []}, [[2]]], "e": {"f": {"g": "h"}}, "i": -1.5}';
  const view = new ArgumentsView();
  const seen = [];
  for (const unit of text) {
    view.push(unit);
    seen.push([view.snapshot(), JSON.stringify(view.value)]);
  }
  for (const [snapshot, shown] of seen) assert.equal(JSON.stringify(snapshot), shown);
  assert.deepEqual(view.value, JSON.parse(text));
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

import assert from "node:assert/strict";
import { test } from "node:test";

import * as all from "toolcall-parsers";
import * as core from "toolcall-parsers/core";

const TEXT = '<think>hm</think>Hi. <tool_call>{"name": "ring", "arguments": {"times": 2}}</tool_call>';

test("the core reads every family that the whole module reads", () => {
  assert.deepEqual(core.families(), all.families());
  for (const family of core.families()) {
    const settings = { family, ids: "counting" };
    const [small, whole] = [core, all].map(({ Guard }) => {
      try {
        return new Guard(settings).parse(TEXT);
      } catch (error) {
        return error.message;
      }
    });
    assert.deepEqual(small, whole, family);
  }
});

test("the core has streams and a view of arguments", async () => {
  const view = new core.ArgumentsView();
  view.push('{"times": 2,');
  assert.deepEqual(view.value, { times: 2 });
  const events = [];
  const stream = ReadableStream.from([TEXT]).pipeThrough(core.guardText({ family: "qwen3" }));
  for await (const event of stream) events.push(event.kind);
  assert.deepEqual(events, ["reasoning", "content", "call_start", "call_arguments", "call_end"]);
});

test("a wrong setting is the same error in both entries", () => {
  assert.throws(() => new core.Guard({ colour: 1 }), all.SettingsError);
  assert.equal(core.guardSse, undefined);
});

test("strings become the declared type on request, and the call says so", () => {
  const schema = { properties: { times: { type: "integer" }, loud: { type: "boolean" }, note: { type: "string" } } };
  const tools = [{ type: "function", function: { name: "ring", parameters: schema } }];
  const text = (times) =>
    `<tool_call>{"name": "ring", "arguments": {"times": ${times}, "loud": "true", "note": "5"}}</tool_call>`;
  for (const { Guard, parse } of [core, all]) {
    const settings = { family: "hermes", tools, argumentTypes: "declared", ids: "counting" };
    const read = (times, more) => parse(text(times), { ...settings, ...more }).calls[0];
    assert.deepEqual(JSON.parse(read('"2"').arguments), { times: 2, loud: true, note: "5" });
    assert.equal(read('"2"').outcome, "repaired");
    assert.deepEqual(JSON.parse(read('"two"').arguments), { times: "two", loud: true, note: "5" });
    const written = read('"2"', { argumentTypes: undefined });
    assert.deepEqual(JSON.parse(written.arguments), { times: "2", loud: "true", note: "5" });
    assert.equal(written.outcome, "complete");
    assert.equal(read("2", { tools: undefined }).outcome, "complete");
    const guard = new Guard(settings);
    for (let cut = 0; cut <= text('"2"').length; cut++) {
      const events = [...guard.push(text('"2"').slice(0, cut)), ...guard.push(text('"2"').slice(cut)), ...guard.finish()];
      const fragments = events.filter(({ kind }) => kind === "call_arguments");
      assert.equal(fragments.map(({ fragment }) => fragment).join(""), read('"2"').arguments, `cut at ${cut}`);
      guard.reset();
    }
    assert.throws(() => new Guard({ ...settings, argumentTypes: "guessed" }), /argumentTypes: expected one of `written`, `declared`/);
  }
});

test("the core says which entry has the settings that it does not read", () => {
  for (const name of ["template", "familyFile"]) {
    const refusal = new RegExp(`^SettingsError: ${name}: .*\`toolcall-parsers\``);
    assert.throws(() => new core.Guard({ [name]: "{}" }), refusal);
    assert.equal(core.parse("<think>a</think>", { family: "qwen3", [name]: null }).reasoning, "a");
  }
  const request = { messages: [], tools: [{ type: "function", function: { name: "ring" } }] };
  const asks = (entry) => entry.guardRequest(request, { tools: "prompt", family: "json_in_tags" });
  assert.throws(() => asks(core), /^SettingsError: tools: .*`toolcall-parsers`/);
  const profile = { name: "mine", tools: "hermes", remap: "hermes" };
  const remaps = ({ guardRequest }) => guardRequest({ messages: [] }, { server: "vllm", profile });
  assert.equal(remaps(all).isRaw, true);
  assert.throws(() => remaps(core), /^SettingsError: profile: .*`toolcall-parsers`/);
  assert.match(asks(all).body.messages[0].content, /ring/);
});

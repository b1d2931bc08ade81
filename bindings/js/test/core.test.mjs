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

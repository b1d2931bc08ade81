import assert from "node:assert/strict";
import { test } from "node:test";

import { Guard } from "toolcall-parsers";

import { cases, cutsOf, differs, run, settingsOf } from "./vectors.mjs";

const ROOT = new URL(`file://${process.env.VECTORS}/`);
const FOLDERS = ["tools", "reasoning", "profiles", "tokens"];

test("every cut of every vector gives the expected message", () => {
  let count = 0;
  let foreign = 0;
  for (const [name, one] of cases(ROOT, ...FOLDERS)) {
    const settings = settingsOf(one);
    if (!settings) {
      foreign += 1;
      continue;
    }
    const guard = new Guard(settings);
    const end = one.finish ?? "stop";
    let whole;
    for (const cut of cutsOf(one, name)) {
      const events = run(guard, cut, end);
      whole ??= events;
      assert.deepEqual(events, whole, `${name}: ${JSON.stringify(cut)}`);
    }
    assert.equal(differs(one, whole), null, name);
    count += 1;
  }
  assert.ok(count > 1000, `only ${count} vectors were run`);
  console.log(`${count} vectors; ${foreign} need settings of the Rust library`);
});

test("a wrong expectation is seen", () => {
  const one = { family: "qwen3", kind: "both", wire: "<think>a</think>b", expect: {} };
  const events = run(new Guard({ family: "qwen3" }), [[one.wire, 0]], "stop");
  assert.equal(differs({ expect: { content: "b", reasoning: "a" } }, events), null);
  assert.notEqual(differs({ expect: { content: "b" } }, events), null);
  assert.notEqual(
    differs({ expect: { content: "b", reasoning: "a", calls: [{ name: "x", arguments: {} }] } }, events),
    null,
  );
});

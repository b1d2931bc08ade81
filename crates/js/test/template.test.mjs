// Response templates of checkpoints as a setting.
import assert from "node:assert/strict";
import { test } from "node:test";

import { Guard, guardCompletion, guardFetch, guardRequest, parse, SettingsError } from "toolcall-parsers";

import { cases, cutsOf, differs, run } from "./vectors.mjs";

const ROOT = new URL(`file://${process.env.VECTORS}/`);
const TEMPLATE = {
  start_anchor: "<go>",
  fields: {
    thinking: { open: "<muse>", close: "</muse>" },
    tool_calls: {
      open: "<act>",
      close: "</act>",
      repeats: true,
      content: "json",
      transform: { type: "function", function: "{content}" },
    },
    content: { close: "<over>" },
  },
};
const TEXT = '<muse>hm</muse>Hi.<act>{"name": "ring", "arguments": {"times": 2}}</act>';

/** Returns the guard of a case. Tools are refused where the template reads no calls. */
function guardOf({ template, prefix, tools }) {
  const settings = { template: JSON.stringify(template), prompt: prefix, ids: "counting" };
  try {
    return new Guard({ ...settings, tools });
  } catch (error) {
    if (!/reads no calls/.test(error.message)) throw error;
    return new Guard(settings);
  }
}

/** The fields whose text is text of the events. */
const TEXTS = ["content", "thinking", "reasoning", "reasoning_content"];

/** Returns whether the message has all that the events have: of most fields, the last region counts. */
function isWhole({ expect }) {
  const fields = expect.regions.map(({ field }) => field).filter((field) => field !== "tool_calls");
  const isText = fields.every((field) => TEXTS.includes(field));
  const areObjects = expect.calls.every((call) => typeof call.arguments === "object");
  return isText && areObjects && new Set(fields).size === fields.length;
}

test("every cut of every vector of response templates gives the same events", () => {
  let count = 0;
  let compared = 0;
  for (const [name, one] of cases(ROOT, "templates")) {
    if (!one.expect) continue;
    const guard = guardOf(one);
    let whole;
    for (const cut of cutsOf(one, name)) {
      const events = run(guard, cut, one.finish ?? "stop");
      whole ??= events;
      assert.deepEqual(events, whole, `${name}: ${JSON.stringify(cut)}`);
    }
    count += 1;
    if (!isWhole(one)) continue;
    compared += 1;
    assert.equal(differs(one, whole), null, name);
  }
  assert.ok(count > 30 && compared > 10, `only ${count} vectors were run, and ${compared} compared`);
});

test("templates that cannot be read are refused", () => {
  let count = 0;
  for (const [name, one] of cases(ROOT, "templates")) {
    if (one.fails !== "load") continue;
    const isRefused = (error) => error instanceof SettingsError && /^template: /.test(error.message);
    assert.throws(() => guardOf(one), isRefused, name);
    count += 1;
  }
  assert.ok(count > 20, `only ${count} templates were refused`);
});

test("a template is text, an object, or in the configuration of a tokenizer", () => {
  const config = { chat_template: "", response_template: TEMPLATE };
  for (const template of [TEMPLATE, JSON.stringify(TEMPLATE), config]) {
    const { content, reasoning, calls } = parse(TEXT, { template });
    assert.deepEqual([content, reasoning], ["Hi.", "hm"]);
    assert.deepEqual(calls.map(({ name, outcome }) => [name, outcome]), [["ring", "complete"]]);
  }
  assert.throws(() => new Guard({ template: TEMPLATE, family: "qwen3" }), /only one of/);
});

test("a template counts before the model of a request", async () => {
  const message = { role: "assistant", content: TEXT };
  const completion = { choices: [{ index: 0, message, finish_reason: "stop" }] };
  const nameOf = (answer) => answer.choices[0].message.tool_calls[0].function.name;
  const request = { model: "Qwen/Qwen3-8B", messages: [] };
  assert.equal(nameOf(guardCompletion(completion, { template: TEMPLATE, request })), "ring");
  const sent = [];
  const fetch = async (_, { body }) => {
    sent.push(JSON.parse(body));
    return Response.json(completion);
  };
  const ask = guardFetch({ template: TEMPLATE, server: "vllm", fetch });
  const answer = await ask("http://x", { method: "POST", body: JSON.stringify(request) });
  assert.equal(nameOf(await answer.json()), "ring");
  assert.equal(sent[0].skip_special_tokens, false);
  const tools = [{ type: "function", function: { name: "ring" } }];
  const required = { ...request, tools, tool_choice: "required" };
  const { noGrammar } = guardRequest(required, { template: TEMPLATE, server: "vllm" });
  assert.match(noGrammar, /template/);
});

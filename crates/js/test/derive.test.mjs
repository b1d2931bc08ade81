// Families' files from chat templates, which another package renders.
import assert from "node:assert/strict";
import { test } from "node:test";

import { Template } from "@huggingface/jinja";
import { derive, Guard, parse, SettingsError } from "toolcall-parsers";

const render = (template, variables) => new Template(template).render(variables);
const template = (calls) =>
  `{% for m in messages %}<s>{{ m.role }}: {{ m.content or '' }}{% for c in m.tool_calls or [] %}${calls}` +
  "{% endfor %}<|end|>{% endfor %}{% if add_generation_prompt %}<s>assistant: {% endif %}";
const DO = template("<do {{ c.function.name }}>{{ c.function.arguments | tojson }}</do>");

test("a file is derived from a chat template, and read by a guard", () => {
  const familyFile = derive(DO, render);
  assert.match(familyFile, /call = '<do \{name\}>\{arguments\}<\/do>'/);
  const { content, calls } = parse('Hi. <do ring>{"times": 2}</do>', { familyFile });
  assert.deepEqual([content, calls[0].name, calls[0].arguments], ["Hi. ", "ring", '{"times": 2}']);
  assert.equal(calls[0].outcome, "complete");
});

test("a derived file is proved at every cut", () => {
  const guard = new Guard({ familyFile: derive(DO, render), ids: "counting" });
  const text = 'Hi. <do ring>{"times": 2}</do>';
  const whole = guard.parse(text);
  for (let cut = 0; cut <= text.length; cut++) {
    const events = [...guard.push(text.slice(0, cut)), ...guard.push(text.slice(cut)), ...guard.finish()];
    const fragments = events.filter(({ kind }) => kind === "call_arguments");
    assert.equal(fragments.map(({ fragment }) => fragment).join(""), whole.calls[0].arguments);
    guard.reset();
  }
});

test("the tokens of a tokenizer's configuration are variables of its template", () => {
  const seen = new Set();
  const config = { chat_template: DO, bos_token: "<b>", eos_token: { content: "<|end|>" } };
  derive(config, (text, variables) => {
    seen.add(`${variables.bos_token} ${variables.eos_token}`);
    return render(text, variables);
  });
  assert.deepEqual([...seen], ["<b> <|end|>"]);
});

test("a template without calls, and a renderer that fails, are refused with the reason", () => {
  const refused = (source, using, what) =>
    assert.throws(() => derive(source, using), (error) => error instanceof SettingsError && what.test(error.message));
  refused("{{ messages[0].content }}", render, /no family was derived/);
  refused({}, render, /no chat template/);
  refused(DO, () => { throw new Error("no engine"); }, /no engine/);
  refused(DO, () => { throw "no engine"; }, /no engine/);
  refused(DO, () => "x".repeat(1 << 18), /renders more than/);
  refused(template("<do>{{ c.function.arguments | tojson }}</do>"), render, /no family was derived/);
});

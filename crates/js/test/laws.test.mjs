// Laws of docs/laws.md over the project's vectors, through the package.
import assert from "node:assert/strict";
import { test } from "node:test";

import { encode, Guard } from "toolcall-parsers";

import { callsOf, cases, piecesOf, places, run, settingsOf } from "./vectors.mjs";

const ROOT = new URL(`file://${process.env.VECTORS}/`);

/** Cuts of each wire, and of each wire that a value quotes. */
const CUTS = 24;

const properties = { title: { type: "string" }, text: { type: "string" } };
const parameters = { type: "object", properties };
const OUTER = [{ type: "function", function: { name: "write_note", parameters } }];

/** Yields the vectors of calls, with their settings. */
function* all() {
  for (const [name, one] of cases(ROOT, "tools", "profiles", "tokens")) {
    const settings = one.kind === "reasoning" ? null : settingsOf(one);
    if (settings) yield [name, one, settings];
  }
}

const named = ({ name, arguments: text, outcome }) => ({ name, arguments: text, outcome });
const complete = (events) =>
  callsOf(events).filter(({ outcome }) => outcome === "complete").map(named);

/** Returns the pieces up to `place`, counted in UTF-16 units. */
function until(pieces, place) {
  const out = [];
  for (const [text, marker] of pieces) {
    if (place < text.length && marker) break;
    if (place > 0) out.push([text.slice(0, place), marker]);
    place = Math.max(0, place - text.length);
  }
  return out;
}

/** Returns whether an object of the JSON text has a key twice. */
function hasKeyTwice(text) {
  const open = [];
  for (const { 0: token } of text.matchAll(/"(?:[^"\\]|\\.)*"\s*:?|[{}[\]]/g)) {
    if (token === "{" || token === "[") open.push(new Set());
    else if (token === "}" || token === "]") open.pop();
    else if (token.endsWith(":")) {
      const key = JSON.parse(token.slice(0, -1));
      if (open.at(-1).has(key)) return true;
      open.at(-1).add(key);
    }
  }
  return false;
}

test("complete calls of a cut message are the first of the whole, without a key twice", () => {
  let calls = 0;
  for (const [name, one, settings] of all()) {
    const guard = new Guard(settings);
    const pieces = piecesOf(one);
    const length = pieces.reduce((sum, [text]) => sum + text.length, 0);
    const whole = complete(run(guard, pieces, one.finish ?? "stop"));
    for (const place of places(name, length, CUTS)) {
      for (const end of ["length", "aborted"]) {
        const some = complete(run(guard, until(pieces, place), end));
        assert.deepEqual(some, whole.slice(0, some.length), `${name} ${end} at ${place}`);
        assert.ok(!some.some(({ arguments: text }) => hasKeyTwice(text)), name);
        calls += some.length;
      }
    }
  }
  assert.ok(calls > 1000, `only ${calls} calls were compared`);
});

test("atomic delivery gives the same calls", () => {
  for (const [name, one, settings] of all()) {
    const [streamed, atomic] = ["streaming", "atomic"].map((delivery) => {
      const events = run(new Guard({ ...settings, delivery }), piecesOf(one), one.finish ?? "stop");
      return callsOf(events).map(named);
    });
    assert.deepEqual(streamed, atomic, name);
  }
});

test("a call that only a value contains never starts", () => {
  let count = 0;
  for (const [name, one, { profile }] of all()) {
    const quoted = piecesOf(one).map(([text]) => text).join("");
    const args = { title: "see", text: `so: ${quoted} and more` };
    const settings = { profile, tools: OUTER };
    let wire;
    try {
      wire = encode([{ name: "write_note", arguments: args }], settings);
    } catch {
      // The family cannot write the value.
      continue;
    }
    count += 1;
    const guard = new Guard(settings);
    const [outer, ...others] = complete(run(guard, [[wire, 0]], "stop"));
    assert.deepEqual([outer.name, JSON.parse(outer.arguments)], ["write_note", args], name);
    assert.deepEqual(others, [], name);
    for (const place of places(name, wire.length, CUTS)) {
      for (const end of ["length", "aborted"]) {
        const calls = callsOf(run(guard, [[wire.slice(0, place), 0]], end));
        assert.ok(calls.every((call) => call.name === "write_note"), `${name} ${end} at ${place}`);
      }
    }
  }
  assert.ok(count > 500, `only ${count} wires were quoted`);
});

test("a key that an object has twice is seen", () => {
  assert.ok(hasKeyTwice('{"a": [{"b": 1, "c": 2, "b": 3}]}'));
  assert.ok(!hasKeyTwice('{"a": [{"b": "\\"b\\":"}, {"b": 1}], "b": {"a": 1}}'));
});

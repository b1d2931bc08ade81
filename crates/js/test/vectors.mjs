// The project's conformance vectors: reading, cutting and comparing as `families/vectors/README.md` says.
import { readdirSync, readFileSync } from "node:fs";

import { Guard, profile } from "toolcall-parsers";

/** Wires up to this length are split at every place. */
const SPLIT_IN_TWO = 2048;
/** Wires up to this length are split at every pair of places. */
const SPLIT_IN_THREE = 24;
const RANDOM_CUTS = 64;

/** Options that the package has a setting for. The others are settings of the Rust library. */
const OPTIONS = {
  token_suffix: (settings, value) => ({ ...settings, tokenSuffix: value }),
  tool_ends_reasoning(settings, value) {
    const { profile } = settings;
    if (!value && profile.tool_in_reasoning !== "end") return settings;
    return { ...settings, profile: { ...profile, tool_in_reasoning: value ? "end" : "literal" } };
  },
  trim: (settings, value) =>
    value === "reasoning_end" ? { ...settings, whitespace: "reasoning_end" } : settings,
  drop_ws_before_tools: (settings, value) =>
    value ? { ...settings, whitespace: "before_calls" } : settings,
};

/** Yields the cases of these folders, each with a name. */
export function* cases(root, ...folders) {
  for (const folder of folders) {
    const files = readdirSync(new URL(folder, root)).filter((name) => name.endsWith(".jsonl"));
    for (const file of files.sort()) {
      const text = readFileSync(new URL(`${folder}/${file}`, root), "utf8");
      for (const line of text.split("\n").filter((line) => line.trim())) {
        const one = JSON.parse(line);
        yield [`${folder}/${file}:${one.id}`, one];
      }
    }
  }
}

function isReasoningFormat(family) {
  try {
    return Boolean(new Guard({ profile: { name: family, reasoning: family } }));
  } catch {
    return false;
  }
}

function profileOf({ family, kind }) {
  if (kind === "tools") return { name: family, tools: family };
  if (kind === "reasoning") return { name: family, reasoning: family };
  const whole = profile({ family });
  const bare = profile({ profile: { name: family, tools: family } });
  if (JSON.stringify(whole) === JSON.stringify(bare)) {
    // A tool-call family alone: with the reasoning format of the same name, if there is one.
    whole.reasoning = isReasoningFormat(family) ? family : null;
  }
  // A stream begins in content unless the vector decides otherwise.
  return { ...whole, start: "content", switch: {} };
}

/** Returns the settings of a case, or `null` if it needs one that only the Rust library has. */
export function settingsOf(one) {
  let settings = {
    profile: profileOf(one),
    tools: one.tools,
    start: one.start,
    whitespace: one.whitespace ?? "framing",
    markerTokens: one.marker_tokens,
    ids: "counting",
  };
  for (const [name, value] of Object.entries(one.options ?? {})) {
    if (!OPTIONS[name]) return null;
    settings = OPTIONS[name](settings, value);
  }
  return settings;
}

/** Random numbers that are the same in every run. */
function* numbers(seed) {
  let state = 0x9e3779b9;
  for (const char of seed) state = Math.imul(state ^ char.codePointAt(0), 0x85ebca6b) >>> 0;
  while (true) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    yield state >>> 0;
  }
}

/** Returns the pieces of a wire, neighbouring texts joined. */
export function piecesOf(one) {
  if (!one.pieces) return [[one.wire, 0]];
  const joined = [];
  for (const [text, marker] of one.pieces) {
    const last = joined.at(-1);
    if (last && !marker && !last[1]) last[0] += text;
    else joined.push([text, marker]);
  }
  return joined;
}

/** Splits texts at these places, counted in UTF-16 units over all pieces. */
function split(pieces, places) {
  const out = [];
  let at = 0;
  for (const [text, marker] of pieces) {
    const inside = marker ? [] : places.map((place) => place - at);
    const bounds = [0, ...inside.filter((place) => place > 0 && place < text.length), text.length];
    bounds.slice(1).forEach((end, index) => out.push([text.slice(bounds[index], end), marker]));
    at += text.length;
  }
  return out;
}

/** Returns `count` places below `length`, the same in every run. */
export function places(seed, length, count) {
  const random = numbers(seed);
  return Array.from({ length: count }, () => random.next().value % length);
}

/** Yields every cut: texts may be split inside a surrogate pair, bytes inside a sequence. */
export function* cutsOf(one, seed) {
  const whole = piecesOf(one);
  const length = whole.reduce((sum, [text]) => sum + text.length, 0);
  const single = split(whole, Array.from({ length }, (_, at) => at));
  yield whole;
  if (one.pieces) yield one.pieces;
  yield single;
  yield single.flatMap((piece) => [["", 0], piece, ["", 0]]);
  for (let at = 1; length <= SPLIT_IN_TWO && at < length; at++) yield split(whole, [at]);
  for (let at = 1; length <= SPLIT_IN_THREE && at < length; at++) {
    for (let next = at + 1; next < length; next++) yield split(whole, [at, next]);
  }
  const random = numbers(seed);
  const some = (size) =>
    Array.from({ length: random.next().value % 12 }, () => random.next().value % (size + 1))
      .sort((a, b) => a - b);
  for (let cut = 0; cut < RANDOM_CUTS; cut++) yield split(whole, some(length));
  if (whole.some(([, marker]) => marker)) return;
  const bytes = new TextEncoder().encode(whole.map(([text]) => text).join(""));
  yield Array.from(bytes, (byte) => [Uint8Array.of(byte), 0]);
  for (let cut = 0; cut < RANDOM_CUTS / 4; cut++) {
    const bounds = [0, ...some(bytes.length), bytes.length];
    yield bounds.slice(1).map((end, index) => [bytes.slice(bounds[index], end), 0]);
  }
}

/** Feeds pieces to a guard, which is as new afterwards, and joins neighbouring pieces of text. */
export function run(guard, pieces, end) {
  const out = [];
  const add = (events) => {
    for (const event of events) {
      const text = { content: "text", reasoning: "text", call_arguments: "fragment" }[event.kind];
      const last = out.at(-1);
      if (text && event[text] === "") throw new Error("an empty event");
      // Diagnostics are compared apart: some come at different places of the events.
      if (event.kind === "diagnostic") continue;
      if (text && last?.kind === event.kind && last.index === event.index) last[text] += event[text];
      else out.push({ ...event });
    }
  };
  for (const [piece, marker] of pieces) add(marker ? guard.pushMarker(piece) : guard.push(piece));
  add(guard.finish(end));
  guard.reset();
  return out;
}

/** A value as text that equal JSON values have in common. */
function canon(value) {
  if (Array.isArray(value)) return `[${value.map(canon).join()}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  const keys = Object.keys(value).sort();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canon(value[key])}`).join()}}`;
}

/** Puts the calls of the events together. */
export function callsOf(events) {
  const calls = [];
  for (const event of events) {
    if (event.kind === "call_start") calls.push({ ...event, arguments: "" });
    if (event.kind === "call_arguments") calls[event.index].arguments += event.fragment;
    if (event.kind === "call_end") calls[event.index].outcome = event.outcome;
  }
  return calls;
}

/** Compares the events with the expectation. Returns what differs, or `null`. */
export function differs({ expect }, events) {
  for (const channel of ["content", "reasoning"]) {
    const text = events.filter((event) => event.kind === channel).map((event) => event.text);
    if (text.join("") !== (expect[channel] ?? "")) return `${channel}: ${text.join("")}`;
  }
  const calls = callsOf(events);
  const runs = (call) => call.outcome === "complete" || call.outcome === "repaired";
  const complete = calls.filter(runs);
  const wanted = expect.calls ?? [];
  const isSame = (call, index) =>
    call.name === wanted[index].name &&
    (wanted[index].id == null || call.id === wanted[index].id) &&
    canon(JSON.parse(call.arguments)) === canon(wanted[index].arguments);
  if (complete.length !== wanted.length || !complete.every(isSame)) {
    return `calls: ${JSON.stringify(calls)}`;
  }
  const broken = calls.filter((call) => !runs(call));
  const { incomplete } = expect;
  if (incomplete && !broken.some(({ name }) => name === incomplete.name)) return "incomplete";
  return null;
}

// Measures what the package costs a program: node costs.mjs, where the package is installed.
// Each figure is that of the fastest run, which other programs disturb least.
import { execFileSync } from "node:child_process";

import { ArgumentsView, Guard, parse } from "toolcall-parsers";

const RUNS = 40;

/** Returns the least time of a run, in microseconds per unit of `count`. */
function time(count, run) {
  run();
  const times = Array.from({ length: RUNS }, () => {
    const start = performance.now();
    run();
    return ((performance.now() - start) * 1000) / count;
  });
  return Math.min(...times);
}

/** Returns the time of a Node process that runs `code`, in milliseconds. */
const processTime = (code) =>
  Math.min(
    ...Array.from({ length: 12 }, () => {
      const start = performance.now();
      execFileSync(process.execPath, ["--input-type=module", "-e", code]);
      return performance.now() - start;
    }),
  );

const sentence = "The tide table of Brest has two high waters a day. ";
const prose = sentence.repeat(400);
const value = JSON.stringify({ text: prose });
const call = `<tool_call>\n{"name": "note", "arguments": ${value}}\n</tool_call>`;
const pieces = (text) => text.match(/.{1,4}/gs);

/** Reads a message in pieces. */
function stream(guard, all) {
  for (const piece of all) guard.push(piece);
  guard.finish();
  guard.reset();
}

const guard = new Guard({ family: "qwen3" });
const [words, argumentPieces, valuePieces] = [prose, call, value].map(pieces);
const bare = processTime("");
const rows = [
  ["import, in Node", processTime('await import("toolcall-parsers")') - bare, "ms"],
  ["import of the core", processTime('await import("toolcall-parsers/core")') - bare, "ms"],
  ["a guard by family", time(200, () => Array.from({ length: 200 }, () => new Guard({ family: "qwen3" }).free())), "µs"],
  ["a guard by model id", time(200, () => Array.from({ length: 200 }, () => new Guard({ model: "Qwen/Qwen3-8B" }).free())), "µs"],
  ["`push` of four characters of prose", time(words.length, () => stream(guard, words)), "µs"],
  [`\`push\` inside a call of ${Math.round(call.length / 1000)} kB`, time(argumentPieces.length, () => stream(guard, argumentPieces)), "µs"],
  ["`ArgumentsView.push` of four characters", time(valuePieces.length, () => {
    const view = new ArgumentsView();
    for (const piece of valuePieces) view.push(piece);
  }), "µs"],
  [`\`parse\` of ${Math.round(call.length / 1000)} kB`, time(1, () => parse(call, { family: "qwen3" })), "µs"],
];

const before = process.memoryUsage().external;
const kept = Array.from({ length: 2000 }, () => new Guard({ family: "qwen3" }));
rows.push(["memory of a guard", (process.memoryUsage().external - before) / kept.length / 1000, "kB"]);
for (const one of kept) one.free();

for (const [what, figure, unit] of rows) console.log(`| ${what} | ${figure.toPrecision(2)} ${unit} |`);

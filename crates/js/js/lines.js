// Chat completions whose chunks are lines of JSON.
import { StreamError } from "./errors.js";
import { pipe } from "./pipe.js";

/** The most UTF-16 code units of a line. */
const MAX_LINE = 8 * 1024 * 1024;

/** Returns whether a response of this content type is lines of JSON. */
export const isLines = (type) => /^application\/(x-)?(ndjson|jsonl|jsonlines)\b/i.test(type);

/**
 * Returns a pair of streams from bytes to bytes around `chunks`, a machine for chunks. Lines that
 * are not chunks pass as they are: blank and broken ones, and those of other APIs.
 */
export function lines(chunks) {
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  let rest = "";

  const written = (values) => values.map((value) => encoder.encode(`${JSON.stringify(value)}\n`));
  const read = (line) => {
    let chunk;
    try {
      chunk = JSON.parse(line);
    } catch {}
    return Array.isArray(chunk?.choices) ? written(chunks.push(chunk)) : [encoder.encode(line)];
  };
  /** Runs steps, and gives all output before an error with the error. */
  const run = (steps) => {
    const output = [];
    for (const step of steps) {
      try {
        output.push(...step());
      } catch (error) {
        throw Object.assign(error, { released: [...output, ...written(error.released ?? [])] });
      }
    }
    return output;
  };
  const reading = (all) => all.map((line) => () => read(line));

  return pipe({
    push(bytes) {
      const text = decoder.decode(bytes, { stream: true });
      const end = text.lastIndexOf("\n") + 1;
      const all = end > 0 ? (rest + text.slice(0, end)).split(/(?<=\n)/) : [];
      rest = (end > 0 ? "" : rest) + text.slice(end);
      const output = run(reading(all));
      if (rest.length <= MAX_LINE) return output;
      throw new StreamError("a line of the answer is too long", output, "limit");
    },
    finish() {
      const last = [rest + decoder.decode()].filter(Boolean);
      return run([...reading(last), () => written(chunks.finish())]);
    },
    free: () => chunks.free(),
  });
}

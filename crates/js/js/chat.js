// Chat completions: streams of bytes and of chunks, and whole answers.
import { StreamError } from "./errors.js";
import { fetcher } from "./fetch.js";
import { endOf } from "./guards.js";
import { lines } from "./lines.js";
import { pipe } from "./pipe.js";
import { bytesOf, textOf } from "./text.js";

/** Returns the functions for chat completions over the compiled module `native`. */
export function chat(native, made, guardRequest) {
  /** Divides the settings: those of the guard, and what only these functions know. */
  function divided(settings) {
    const { end = "stop", onDiagnostic, calls, brokenCalls, ...rest } = settings;
    return { end, onDiagnostic, chat: textOf({ calls, brokenCalls }), text: textOf(rest) };
  }

  /** Runs a step, reports diagnostics, and returns what `take` does, also if the step fails. */
  function output(guard, onDiagnostic, step, take) {
    let fault;
    try {
      step();
    } catch (error) {
      fault = error;
    }
    if (onDiagnostic) {
      for (const [choice, diagnostic] of JSON.parse(guard.notes())) onDiagnostic(diagnostic, choice);
    }
    const clean = take();
    if (fault !== undefined) throw streamError(fault, clean);
    return clean;
  }

  /** Returns the guard of one answer, before it is known in which form the answer comes. */
  function guardAnswer(settings) {
    const { end, onDiagnostic, chat, text } = divided(settings);
    const guard = made(() => new native.NativeAnswer(text, chat, onDiagnostic !== undefined));
    const take = () => {
      const bytes = guard.take();
      return bytes.length > 0 ? [bytes] : [];
    };
    const read = (step) => output(guard, onDiagnostic, step, take);
    return {
      stream: () =>
        pipe({
          push: (chunk) => read(() => guard.push(bytesOf(chunk))),
          finish: () => {
            const word = endOf(end);
            return read(() => guard.finish(word));
          },
          free: () => guard.free(),
        }),
      /** Returns a whole answer, from JSON to JSON. */
      complete(json) {
        let clean;
        const step = () => {
          clean = guard.complete(json);
        };
        output(guard, onDiagnostic, step, () => []);
        return clean;
      },
      free: () => guard.free(),
    };
  }

  const guardSse = (settings) => guardAnswer(settings).stream();

  function guardCompletion(completion, settings) {
    const guard = guardAnswer(settings);
    try {
      return JSON.parse(guard.complete(JSON.stringify(completion)));
    } finally {
      guard.free();
    }
  }

  /** Returns a machine from chunks to chunks. */
  function chunkMachine(settings) {
    const { onDiagnostic, chat, text } = divided(settings);
    const chunks = made(() => new native.NativeChunks(text, chat, onDiagnostic !== undefined));
    const read = (step) => output(chunks, onDiagnostic, step, () => JSON.parse(chunks.take()));
    return {
      push: (chunk) => read(() => chunks.push(JSON.stringify(chunk))),
      finish: () => read(() => chunks.finish()),
      free: () => chunks.free(),
    };
  }

  const guardChunks = (settings) => pipe(chunkMachine(settings));
  const guardLines = (settings) => lines(chunkMachine(settings));
  const guardFetch = fetcher({ guardAnswer, guardLines, guardRequest });
  return { guardChunks, guardCompletion, guardFetch, guardSse };
}

/** Returns the error of a stream. The module throws texts. */
function streamError(fault, released) {
  if (typeof fault !== "string") return Object.assign(fault, { released });
  const code = /was cut/.test(fault) ? "unfinished" : "limit";
  return new StreamError(fault, released, code);
}

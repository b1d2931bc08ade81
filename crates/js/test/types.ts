// Uses the package as a program in strict TypeScript does. Only its types are checked.
import type { LanguageModelV3Middleware, LanguageModelV4Middleware } from "@ai-sdk/provider";
import {
  ArgumentsView,
  derive,
  detect,
  encode,
  explain,
  explainPage,
  families,
  Guard,
  guardChunks,
  guardCompletion,
  guardFetch,
  guardMiddleware as wholeMiddleware,
  guardRequest,
  guardSse,
  guardText,
  init,
  parse,
  profile,
  SettingsError,
  StateError,
  StreamError,
  type DiagnosticKind,
  type GuardEvent,
  type Message,
  type Path,
  type Settings,
} from "toolcall-parsers";
import { guardMiddleware } from "toolcall-parsers/ai";
import * as core from "toolcall-parsers/core";

const settings: Settings = { family: families()[0], start: "reasoning", ids: "counting" };

export const newest: LanguageModelV4Middleware = guardMiddleware();
export const older: LanguageModelV3Middleware = guardMiddleware({ specificationVersion: "v3" });

export async function events(answer: ReadableStream<Uint8Array>): Promise<GuardEvent[]> {
  await init("/guard_bg.wasm");
  const list: GuardEvent[] = [];
  const reader = answer.pipeThrough(guardSse(settings)).pipeThrough(guardText(settings)).getReader();
  for (let next = await reader.read(); !next.done; next = await reader.read()) list.push(next.value);
  return list;
}

export function names(list: readonly GuardEvent[]): string[] {
  return list.flatMap((event) => (event.kind === "call_start" ? [event.name] : []));
}

export function whole(text: string): Message {
  try {
    return parse(text, { ...settings, end: "length" });
  } catch (error) {
    if (error instanceof StreamError) return core.parse("", { profile: profile(settings) });
    throw error instanceof SettingsError ? error : new Error("unexpected");
  }
}

const kinds: DiagnosticKind[] = [];
export const asking: typeof fetch = guardFetch({
  server: "vllm",
  onDiagnostic: (notice, choice) => {
    if (notice.kind === "no_grammar") throw new Error(notice.reason);
    kinds.push(choice === 0 ? notice.kind : "noise");
  },
});
export const own = guardFetch({ server: "vllm", familyFile: derive("{{ x }}", (text, { x }) => text + String(x)) });
export const fromConfig: string = derive({ chat_template: "{{ x }}", bos_token: "<s>" }, (text) => text);
export const typed: Message = parse("", { family: "hermes", argumentTypes: "declared" });
export const inObject: Message = parse("", { familyFile: { name: "own", calls: { call: "<a>{object}</a>" } } });
export const byTemplate: Message = parse("", { template: { fields: { content: {} } } });
export const withFile = wholeMiddleware({ familyFile: "", tools: "prompt" });
export const reason: string | undefined = guardRequest({ model: "x" }, { familyFile: "" }).noGrammar;
export const body: { model: string } = guardRequest({ model: "x" }, { server: "sglang" }).body;
export const inPrompt: { model: string } = guardRequest(
  { model: "x" },
  { tools: "prompt", family: "json_in_tags" },
).body;
export const wholeCalls: typeof fetch = guardFetch({ tools: "prompt", calls: "whole", brokenCalls: "drop" });
export const clean: { id: string } = guardCompletion({ id: "c", choices: [] }, settings);
export const chunks: TransformStream<{ id: string }, { id: string }> = guardChunks(settings);
export const ended = guardText({ ...settings, end: () => "length" });

export function wordOf(error: unknown): string {
  if (error instanceof StateError && error.code === "freed") return "freed";
  return error instanceof StreamError ? error.code : "none";
}

export function freed(): string | undefined {
  const guard = new Guard(settings);
  const text = guard.callText("text", 0);
  guard.free();
  guard[Symbol.dispose]();
  return text;
}

const view = new ArgumentsView();
export const shown: unknown = view.snapshot();
export const paths: Path[] = view.push('{"a": 1');
export const small: core.GuardEvent[] = new core.Guard(settings).push("text");
export const written: string = encode([{ name: "ring", arguments: { times: 2 } }], settings);
export const family: string | null = detect(written).family;
export const page: string = explainPage(written, { name: explain(written).file });

// @ts-expect-error: a setting that does not exist
new Guard({ family: "qwen3", colour: 1 });
// @ts-expect-error: a word that the setting does not have
new Guard({ family: "qwen3", start: "end" });
// @ts-expect-error: a template needs a renderer
derive("{{ x }}");
// @ts-expect-error: a server that is not known
guardFetch({ server: "tgi" });
// @ts-expect-error: tools have no such place
guardFetch({ tools: "text" });
// @ts-expect-error: a kind that does not exist
kinds.push("strange");
// @ts-expect-error: the core does not read event streams
core.guardSse(settings);
// @ts-expect-error: an outcome has no text
names([{ kind: "call_end", index: 0, outcome: "complete", text: "" }]);

// A provider of models for the Vercel AI SDK, and for programs that load one, such as OpenCode.
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { guardFetch } from "toolcall-parsers";

export function createGuarded({ guard, fetch, ...options }) {
  return createOpenAICompatible({ ...options, fetch: guardFetch({ ...guard, fetch }) });
}

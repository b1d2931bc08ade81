// The Vercel AI SDK, with a provider whose answers are clean.
import { createGuarded } from "toolcall-parsers/provider";

import { asked } from "./ai-sdk.mjs";

export async function run({ baseURL, ...rest }) {
  const server = createGuarded({ name: "vllm", baseURL, guard: { server: "vllm" } });
  return asked(server("Qwen/Qwen3-8B"), rest);
}

import type {
  LanguageModelV3Middleware,
  LanguageModelV4Middleware,
} from "@ai-sdk/provider";

import type { Settings } from "./index.js";

export { init } from "./index.js";

/** Without `model`, `family` or `profile`, the id of the wrapped model decides. */
export type MiddlewareSettings = Omit<Settings, "tools">;

/** Returns a middleware for `wrapLanguageModel` that parses text, reasoning and tool calls. */
export function guardMiddleware(
  settings?: MiddlewareSettings & { specificationVersion?: "v4" },
): LanguageModelV4Middleware;
export function guardMiddleware(
  settings: MiddlewareSettings & { specificationVersion: "v3" },
): LanguageModelV3Middleware;

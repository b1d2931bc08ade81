import type {
  OpenAICompatibleProvider,
  OpenAICompatibleProviderSettings,
} from "@ai-sdk/openai-compatible";

import type { FetchSettings } from "./index.js";

/** Settings of `createOpenAICompatible`, and those of `guardFetch`. */
export interface GuardedProviderSettings extends OpenAICompatibleProviderSettings {
  guard?: Omit<FetchSettings, "fetch"> | undefined;
}

/**
 * Returns a provider of models behind a server with an OpenAI-compatible API. Its requests are
 * prepared and its answers cleaned by `guardFetch`.
 */
export function createGuarded(settings: GuardedProviderSettings): OpenAICompatibleProvider;

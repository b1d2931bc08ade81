import type { Diagnostic, Settings, ToolsInPrompt } from "./index.js";

export { guardRequest, init } from "./index.js";

/** Where no setting names the format, the id of the wrapped model decides. */
export type MiddlewareSettings = Omit<Settings, "tools"> & {
  tools?: ToolsInPrompt | undefined;
  onDiagnostic?: (diagnostic: Diagnostic) => void;
};

/**
 * A middleware of version 3 (`ai` 6) and of version 4 (`ai` 7) of the interface, which are alike in
 * all that this one uses. The types of the interface come with `ai` and are not imported here, so
 * that either version may be installed.
 */
export interface GuardMiddleware {
  readonly specificationVersion: any;
  transformParams(call: { params: any; model: any }): Promise<any>;
  wrapGenerate(call: Wrapped): Promise<any>;
  wrapStream(call: Wrapped): Promise<any>;
}

/** What the SDK hands to a middleware. */
export interface Wrapped {
  doGenerate: () => PromiseLike<any>;
  doStream: () => PromiseLike<any>;
  params: any;
  model: any;
}

/** Returns a middleware for `wrapLanguageModel` that parses text, reasoning and tool calls. */
export function guardMiddleware(
  settings?: MiddlewareSettings & { specificationVersion?: "v3" | "v4" },
): GuardMiddleware;

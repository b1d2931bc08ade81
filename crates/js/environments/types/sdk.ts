import { wrapLanguageModel, type LanguageModelMiddleware } from "ai";
import { guardMiddleware } from "toolcall-parsers/ai";

declare const model: Parameters<typeof wrapLanguageModel>[0]["model"];
export const middleware: LanguageModelMiddleware = guardMiddleware({ family: "qwen3" });
export const wrapped = wrapLanguageModel({ model, middleware: guardMiddleware() });
// @ts-expect-error: a setting that does not exist
guardMiddleware({ colour: 1 });

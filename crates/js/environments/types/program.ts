import { parse, type Message, type Settings } from "toolcall-parsers";
import { Guard } from "toolcall-parsers/core";
import { guardMiddleware } from "toolcall-parsers/ai";

const settings: Settings = { family: "qwen3" };
export const message: Message = parse("Hi", settings);
export const family: string = new Guard(settings).family;
export const version: string = guardMiddleware().specificationVersion;
// @ts-expect-error: a family is a name
new Guard({ family: 1 });

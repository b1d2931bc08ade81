// What every environment runs: a call is read by the whole package and by the core.
import * as all from "toolcall-parsers";
import * as core from "toolcall-parsers/core";

const TEXT = '<think>hm</think>Hi. <tool_call>{"name": "ring", "arguments": {}}</tool_call>';

/** Returns `ring complete`, once for each module. */
export async function answer() {
  const told = [];
  for (const { init, parse } of [all, core]) {
    await init();
    const [{ name, outcome }] = parse(TEXT, { family: "qwen3" }).calls;
    told.push(`${name} ${outcome}`);
  }
  return told.join(", ");
}

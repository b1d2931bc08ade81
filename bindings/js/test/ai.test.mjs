import assert from "node:assert/strict";
import { test } from "node:test";

import * as ai6 from "ai6";
import * as ai7 from "ai7";
import { guardMiddleware } from "toolcall-parsers/ai";

const TOOLS = { type: "object", properties: { city: { type: "string" } } };
const CALL = (city) =>
  `<tool_call>\n{"name": "get_weather", "arguments": {"city": "${city}"}}\n</tool_call>`;
const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 1, text: 1, reasoning: undefined },
};

/** A model whose server passes the model's text on, in pieces of three characters. */
function upstream(version, text, reason = "stop", modelId = "Qwen/Qwen3-8B") {
  const finishReason = { unified: reason, raw: reason };
  const pieces = text.match(/.{1,3}/gsu) ?? [];
  return {
    specificationVersion: version,
    provider: "replay",
    modelId,
    supportedUrls: {},
    doGenerate: async () => ({ content: [{ type: "text", text }], finishReason, usage, warnings: [] }),
    doStream: async () => ({
      stream: ReadableStream.from([
        { type: "stream-start", warnings: [] },
        { type: "text-start", id: "1" },
        ...pieces.map((delta) => ({ type: "text-delta", id: "1", delta })),
        { type: "text-end", id: "1" },
        { type: "finish", finishReason, usage },
      ]),
    }),
  };
}

for (const [version, ai] of [["v3", ai6], ["v4", ai7]]) {
  const wrapped = (text, reason, settings, modelId) =>
    ai.wrapLanguageModel({
      model: upstream(version, text, reason, modelId),
      middleware: guardMiddleware({ specificationVersion: version, ...settings }),
    });
  const tools = {
    get_weather: ai.tool({ description: "weather", inputSchema: ai.jsonSchema(TOOLS) }),
  };
  const whole = async (...model) => ai.generateText({ model: wrapped(...model), tools, prompt: "Hi" });
  const streamed = async (...model) => {
    const result = ai.streamText({ model: wrapped(...model), tools, prompt: "Hi" });
    const parts = [];
    for await (const part of result.fullStream) parts.push(part);
    return {
      parts,
      text: await result.text,
      reasoningText: await result.reasoningText,
      toolCalls: await result.toolCalls,
      finishReason: await result.finishReason,
    };
  };
  for (const [way, answer] of [["whole", whole], ["streamed", streamed]]) {
    test(`${version} ${way}: text and reasoning are told apart`, async () => {
      const { text, reasoningText, toolCalls, finishReason } = await answer("<think>hm</think>Hello.");
      assert.deepEqual([text, reasoningText, finishReason], ["Hello.", "hm", "stop"]);
      assert.equal(toolCalls.length, 0);
    });

    test(`${version} ${way}: parallel calls are calls`, async () => {
      const { toolCalls, finishReason, text } = await answer(`${CALL("Paris")}\n${CALL("Malmö")}`);
      assert.deepEqual(toolCalls.map((call) => call.input), [{ city: "Paris" }, { city: "Malmö" }]);
      assert.deepEqual([finishReason, text], ["tool-calls", ""]);
      assert.notEqual(toolCalls[0].toolCallId, toolCalls[1].toolCallId);
    });

    test(`${version} ${way}: a call that was cut is not run`, async () => {
      const { toolCalls, finishReason } = await answer(CALL("Paris").slice(0, 60), "length");
      assert.deepEqual([toolCalls.length, finishReason], [0, "length"]);
    });

    test(`${version} ${way}: reasoning that the prompt opened has only its end`, async () => {
      const settings = { family: "qwen3", start: "reasoning" };
      const { text, reasoningText } = await answer("hm</think>Hello.", "stop", settings);
      assert.deepEqual([text, reasoningText], ["Hello.", "hm"]);
      const model = "deepseek-ai/DeepSeek-R1";
      const opened = await answer("hm</think>Hello.", "stop", {}, model);
      assert.deepEqual([opened.text, opened.reasoningText], ["Hello.", "hm"]);
    });
  }

  test(`${version}: the input of a call is streamed`, async () => {
    const { parts } = await streamed(`Wait. ${CALL("Paris")}`);
    const types = parts.map((part) => part.type).filter((type) => type.startsWith("t"));
    const runs = types.filter((type, index) => type !== types[index - 1]);
    assert.deepEqual(runs, [
      "text-start",
      "text-delta",
      "text-end",
      "tool-input-start",
      "tool-input-delta",
      "tool-input-end",
      "tool-call",
    ]);
    assert.ok(types.filter((type) => type === "tool-input-delta").length > 3);
  });

  test(`${version}: a family is needed`, async () => {
    await assert.rejects(whole("Hi", "stop", {}, "no-such-model"), /no-such-model/);
  });
}

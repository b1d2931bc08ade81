import assert from "node:assert/strict";
import { test } from "node:test";

import * as ai6 from "ai6";
import * as ai7 from "ai7";
import * as all from "toolcall-parsers";
import { guardMiddleware } from "toolcall-parsers/ai";

const TOOLS = { type: "object", properties: { city: { type: "string" } } };
const CALL = (city) =>
  `<tool_call>\n{"name": "get_weather", "arguments": {"city": "${city}"}}\n</tool_call>`;
const BAD = CALL("Paris").replace('"Paris"', "Paris at night");
const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 1, text: 1, reasoning: undefined },
};

/** A model whose server passes the model's text on, in pieces of three characters. */
function upstream(version, text, reason = "stop", modelId = "Qwen/Qwen3-8B") {
  const providerMetadata = modelId === "meta" ? { a: { b: 1 } } : undefined;
  if (modelId === "meta") modelId = "Qwen/Qwen3-8B";
  const finishReason = { unified: reason, raw: reason };
  const pieces = text.match(/.{1,3}/gsu) ?? [];
  return {
    specificationVersion: version,
    provider: "replay",
    modelId,
    supportedUrls: {},
    doGenerate: async () => ({ content: [{ type: "text", text, providerMetadata }], finishReason, usage, warnings: [] }),
    doStream: async () => ({
      stream: ReadableStream.from([
        { type: "stream-start", warnings: [] },
        { type: "text-start", id: "1", providerMetadata },
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
  const split = ([text, reason, settings, id, more]) => ({
    model: wrapped(text, reason, settings, id),
    tools,
    prompt: "Hi",
    ...more,
  });
  const whole = async (...model) => ai.generateText(split(model));
  const streamed = async (...model) => {
    const result = ai.streamText(split(model));
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

    for (const [what, text, reason, outcome] of [
      ["cut", CALL("Paris").slice(0, 60), "length", "incomplete"],
      ["malformed", BAD, "stop", "malformed"],
    ]) {
      test(`${version} ${way}: a call that is ${what} is an invalid call with the model's text`, async () => {
        const { toolCalls, finishReason } = await answer(`Wait. ${text}`, reason);
        assert.equal(toolCalls.length, 1);
        const [{ invalid, input, error, providerMetadata }] = toolCalls;
        assert.deepEqual([invalid, input], [true, text.replace("\n</tool_call>", "")]);
        assert.equal(providerMetadata["toolcall-parsers"].outcome, outcome);
        assert.match(String(error), /get_weather/);
        assert.equal(finishReason, reason === "stop" ? "tool-calls" : reason);
      });
    }

    test(`${version} ${way}: a repair hook gets the text of a call and may mend it`, async () => {
      const asked = [];
      const experimental_repairToolCall = ({ toolCall }) => {
        asked.push(toolCall.input);
        return { ...toolCall, input: '{"city": "Paris"}' };
      };
      const { toolCalls } = await answer(BAD, "stop", {}, undefined, { experimental_repairToolCall });
      assert.deepEqual(asked, [BAD.replace("\n</tool_call>", "")]);
      assert.deepEqual(toolCalls.map((call) => [call.input, call.invalid]), [[{ city: "Paris" }, undefined]]);
    });

    test(`${version} ${way}: diagnostics are reported`, async () => {
      const kinds = [];
      const onDiagnostic = ({ kind }) => kinds.push(kind);
      await answer("hm</think>Hello.", "stop", { onDiagnostic });
      assert.deepEqual(kinds, ["orphan_closer"]);
    });

    test(`${version} ${way}: metadata of text is kept`, async () => {
      const { parts, content } = await answer("<think>hm</think>Hello.", "stop", {}, "meta");
      const found = parts?.filter((part) => part.type.endsWith("-start") && part.providerMetadata) ?? content;
      const texts = found.filter((part) => /^(text|reasoning)/.test(part.type));
      assert.deepEqual(texts.map((part) => part.providerMetadata), [{ a: { b: 1 } }, { a: { b: 1 } }]);
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

  test(`${version}: a family is needed, and missing before the request is sent`, async () => {
    await assert.rejects(whole("Hi", "stop", {}, "no-such-model"), /no-such-model/);
    let sent = 0;
    const model = upstream(version, "Hi");
    const counted = { ...model, doStream: () => (sent += 1), doGenerate: () => (sent += 1) };
    const middleware = guardMiddleware({ specificationVersion: version, colour: 1 });
    const guarded = ai.wrapLanguageModel({ model: counted, middleware });
    await assert.rejects(guarded.doStream({ prompt: [] }), /colour/);
    await assert.rejects(guarded.doGenerate({ prompt: [] }), /colour/);
    assert.equal(sent, 0);
  });

  test(`${version}: a loop of steps tells the model of a call that did not run`, async () => {
    const seen = [];
    const answers = [BAD, "I am sorry."];
    const model = {
      ...upstream(version, ""),
      doStream: ({ prompt }) => {
        seen.push(prompt);
        return upstream(version, answers[seen.length - 1]).doStream();
      },
    };
    const middleware = guardMiddleware({ specificationVersion: version });
    const ran = [];
    const execute = async (input) => ran.push(input);
    const result = ai.streamText({
      model: ai.wrapLanguageModel({ model, middleware }),
      tools: { get_weather: ai.tool({ inputSchema: ai.jsonSchema(TOOLS), execute }) },
      prompt: "Hi",
      stopWhen: ai.stepCountIs(3),
    });
    assert.equal(await result.text, "I am sorry.");
    assert.deepEqual(ran, []);
    const last = seen[1].at(-1);
    assert.equal(last.role, "tool");
    assert.match(JSON.stringify(last.content), /error-text|error-json/);
  });

  for (const way of ["whole", "streamed"]) {
    test(`${version} ${way}: tools, calls and results are text of the prompt`, async () => {
      const seen = [];
      const answers = [BAD, CALL("Paris"), "It is sunny."];
      const model = { ...upstream(version, ""), modelId: "nobody-knows" };
      for (const method of ["doGenerate", "doStream"]) {
        model[method] = (options) => {
          seen.push(options);
          return upstream(version, answers[seen.length - 1])[method]();
        };
      }
      const settings = { specificationVersion: version, tools: "prompt", family: "json_in_tags" };
      const ran = [];
      const execute = async (input) => {
        ran.push(input);
        return { sky: "sunny" };
      };
      const bytes = new Uint8Array([1, 2, 3]);
      const options = {
        model: ai.wrapLanguageModel({ model, middleware: all.guardMiddleware(settings) }),
        tools: {
          get_weather: ai.tool({ description: "the weather", inputSchema: ai.jsonSchema(TOOLS), execute }),
        },
        system: "Be brief.",
        messages: [
          {
            role: "user",
            content: [
              { type: "text", text: "Weather?" },
              { type: "file", data: bytes, mediaType: "application/pdf" },
            ],
          },
        ],
        stopWhen: ai.stepCountIs(4),
      };
      const result = way === "whole" ? await ai.generateText(options) : ai.streamText(options);
      assert.equal(await result.text, "It is sunny.");
      assert.deepEqual(ran, [{ city: "Paris" }]);
      assert.deepEqual(seen.map(({ tools, toolChoice }) => [tools, toolChoice]), Array(3).fill([undefined, undefined]));
      const [system, user, refused, told, called, shown] = seen[2].prompt;
      assert.match(system.content, /^Be brief\.\n\nYou can call tools\..*"the weather".*<tool_call>/s);
      assert.deepEqual(user.content.map((part) => part.type), ["text", "file"]);
      assert.ok(Object.values(user.content[1].data.data ?? user.content[1].data).includes(3));
      assert.deepEqual(refused.content.map(({ type, text }) => [type, text]), [["text", BAD.replace("\n</tool_call>", "")]]);
      assert.equal(told.role, "user");
      assert.match(told.content[0].text, /^<tool_response>\n.*\n<\/tool_response>$/s);
      assert.deepEqual(called.content.map(({ text }) => text), [CALL("Paris")]);
      assert.deepEqual(shown.content.map(({ text }) => text), ['<tool_response>\n{"sky":"sunny"}\n</tool_response>']);
    });
  }

  test(`${version}: a family without calls cannot have tools in the prompt`, async () => {
    const settings = { specificationVersion: version, tools: "prompt", family: "deepseek_r1" };
    const tools = { get_weather: ai.tool({ inputSchema: ai.jsonSchema(TOOLS) }) };
    const refused = async (middleware, why) => {
      const model = ai.wrapLanguageModel({ model: upstream(version, "Hi"), middleware });
      await assert.rejects(ai.generateText({ model, tools, prompt: "Hi" }), why);
    };
    await refused(all.guardMiddleware(settings), /deepseek_r1.*json_in_tags/s);
    await refused(guardMiddleware({ ...settings, family: "json_in_tags" }), /^SettingsError: tools: .*`toolcall-parsers`/);
    assert.throws(() => guardMiddleware({ tools: "text" }), /expected a list or `prompt`/);
  });
}

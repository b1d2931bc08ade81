// Runs every recipe against a scripted server: node --test recipes.test.mjs
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import {
  guardChunks,
  guardCompletion,
  guardFetch,
  SettingsError,
  StreamError,
} from "toolcall-parsers";

import { lines, proxy } from "./handler.mjs";
import { scripted } from "./server.mjs";

/** The recipes of the AI SDK run with two versions of it. */
const RECIPES = ["openai", "langchain", "openai-agents", "ai-sdk", "provider", "ai7/ai-sdk", "ai7/provider"];

// Nothing but the scripted server is asked: some clients look for files of their own elsewhere.
const { fetch } = globalThis;
globalThis.fetch = async (input, init) => {
  const { hostname } = new URL(input.url ?? input);
  if (hostname !== "127.0.0.1") throw new Error(`${hostname} is not asked`);
  return fetch(input, init);
};

let server;
before(async () => {
  server = await scripted();
});
after(() => server.close());

for (const name of RECIPES) {
  for (const stream of [false, true]) {
    const way = stream ? "streamed" : "whole";
    const asked = async (question) => {
      const { run } = await import(`./${name}.mjs`);
      const ran = [];
      const weather = async (input) => {
        ran.push(input);
        return `sunny in ${input.city}`;
      };
      const { baseURL } = server;
      const { text, fault } = await run({ baseURL, question, stream, weather }).then(
        (text) => ({ text }),
        (fault) => ({ fault }),
      );
      return { ran, text, fault };
    };

    test(`${name}, ${way}: a call runs, and its result is used`, async () => {
      const { ran, text, fault } = await asked("a good call");
      assert.deepEqual([fault, ran], [undefined, [{ city: "Paris" }]]);
      assert.match(text, /It says: .*sunny in Paris/);
      assert.doesNotMatch(text, /<|Fine/);
    });

    for (const kind of ["malformed", "cut"]) {
      test(`${name}, ${way}: a call that is ${kind} never runs, and is told of`, async () => {
        const { ran, text, fault } = await asked(`a ${kind} call`);
        assert.deepEqual(ran, []);
        // The loop told the model, the client threw an error, or the call is text of the answer.
        const isTold = /^It says: .*(JSON|did not match)/s.test(text) || fault || text.includes('{"city": ');
        assert.ok(isTold, text);
      });
    }
  }
}

for (const family of ["json_in_tags", "qwen3"]) {
  for (const stream of [false, true]) {
    const way = stream ? "streamed" : "whole";
    test(`tools are in the prompt as ${family} writes calls, ${way}`, async () => {
      const fetch = guardFetch({ server: "vllm", tools: "prompt", family });
      const { default: OpenAI } = await import("openai");
      const client = new OpenAI({ apiKey: "none", baseURL: server.baseURL, maxRetries: 0, fetch });
      const schema = { type: "object", properties: { city: { type: "string" } } };
      const tools = [{ type: "function", function: { name: "get_weather", parameters: schema } }];
      const messages = [{ role: "user", content: "a good call" }];
      const first = server.requests.length;
      const answered = async () => {
        const request = { model: "nobody-knows", messages, tools };
        if (!stream) return (await client.chat.completions.create(request)).choices[0].message;
        const runner = client.chat.completions.stream(request);
        return (await runner.finalChatCompletion()).choices[0].message;
      };
      const asked = await answered();
      const [call] = asked.tool_calls;
      assert.deepEqual(JSON.parse(call.function.arguments), { city: "Paris" });
      messages.push({ role: "assistant", content: asked.content, tool_calls: asked.tool_calls });
      messages.push({ role: "tool", tool_call_id: call.id, content: "sunny" });
      assert.equal((await answered()).content, "It says: sunny");
      const [, sent] = server.requests.slice(first);
      assert.deepEqual([sent.tools, sent.tool_choice, sent.model], [undefined, undefined, "nobody-knows"]);
      assert.deepEqual(sent.messages.map(({ role }) => role), ["system", "user", "assistant", "user"]);
      assert.match(sent.messages[0].content, /get_weather.*<tool_call>/s);
      assert.match(sent.messages[2].content, /<tool_call>\n\{"name": "get_weather", "arguments": \{"city": "Paris"\}\}\n<\/tool_call>$/);
    });
  }
}

test("a wrong place of tools is refused", () => {
  assert.throws(() => guardFetch({ tools: "text" }), SettingsError);
});

const REQUEST = { model: "Qwen/Qwen3-8B", messages: [{ role: "user", content: "Hi" }] };

test("a handler passes clean answers on, streamed and whole", async () => {
  const handler = proxy(`${server.baseURL}/chat/completions`);
  const answerTo = async (body) => {
    const response = await handler(new Request("http://localhost/", { method: "POST", body }));
    assert.equal(response.status, 200);
    return response.text();
  };
  const whole = JSON.parse(await answerTo(JSON.stringify(REQUEST)));
  const { content, reasoning_content } = whole.choices[0].message;
  assert.deepEqual([content, reasoning_content], ["Hello.", "Hm."]);
  const streamed = await answerTo(JSON.stringify({ ...REQUEST, stream: true }));
  assert.match(streamed, /"reasoning_content":"/);
  assert.doesNotMatch(streamed, /<think>/);
  assert.match(streamed, /data: \[DONE\]/);
});

test("a handler sends events as lines while they arrive", async () => {
  const texts = async function* () {
    yield "<think>Hm.</thi";
    yield "nk>Hel";
    yield "lo.";
  };
  const response = await lines(texts, "Qwen/Qwen3-8B")();
  const events = (await response.text()).trim().split("\n").map((line) => JSON.parse(line));
  assert.deepEqual(events, [
    { kind: "reasoning", text: "Hm." },
    { kind: "content", text: "Hel" },
    { kind: "content", text: "lo." },
  ]);
});

test("what is no chat completion passes unchanged, and wrong settings are refused first", async () => {
  const sent = [];
  const fetch = async (input, init) => {
    sent.push([input, init]);
    return new Response("{}", { headers: { "content-type": "application/json" } });
  };
  const guarded = guardFetch({ server: "vllm", fetch });
  const init = { method: "POST", body: '{"input": "Hi"}' };
  assert.equal(await (await guarded("http://localhost/v1/embeddings", init)).text(), "{}");
  await guarded("http://localhost/v1/models");
  assert.deepEqual(sent, [["http://localhost/v1/embeddings", init], ["http://localhost/v1/models", undefined]]);
  const wrong = { method: "POST", body: JSON.stringify({ ...REQUEST, model: "no-such-model" }) };
  await assert.rejects(guarded("http://localhost/v1/chat/completions", wrong), SettingsError);
  assert.equal(sent.length, 2);
});

test("chunks and whole answers are objects", async () => {
  const settings = { family: "qwen3" };
  const message = { role: "assistant", content: "<think>Hm.</think>Hello." };
  const completion = { id: "c", choices: [{ index: 0, message, finish_reason: "stop" }] };
  const clean = guardCompletion(completion, settings);
  assert.deepEqual(
    [clean.choices[0].message.content, clean.choices[0].message.reasoning_content],
    ["Hello.", "Hm."],
  );
  const delta = (content, finish_reason = null) => ({ id: "c", choices: [{ index: 0, delta: { content }, finish_reason }] });
  const chunks = [];
  const source = ReadableStream.from([delta("<think>Hm.</th"), delta("ink>Hel"), delta("lo.", "stop")]);
  for await (const chunk of source.pipeThrough(guardChunks(settings))) chunks.push(chunk);
  const text = (key) => chunks.map((chunk) => chunk.choices[0].delta[key] ?? "").join("");
  assert.deepEqual([text("reasoning_content"), text("content")], ["Hm.", "Hello."]);
  const cut = ReadableStream.from([delta("Hel")]).pipeThrough(guardChunks(settings));
  await assert.rejects(cut.pipeTo(new WritableStream()), StreamError);
});

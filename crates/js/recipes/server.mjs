// A server that answers as vLLM does: with the raw text of the model, if it is asked for it.
import { createServer } from "node:http";

const call = (city) =>
  `<think>Hm.</think>Let me look.\n<tool_call>\n{"name": "get_weather", "arguments": {"city": ${city}}}\n</tool_call>`;
/** What the model writes, by a word of the question. */
export const TEXTS = {
  good: [call('"Paris"'), "stop"],
  malformed: [call("Paris or Rome"), "stop"],
  cut: [call('"Paris"').slice(0, -17), "length"],
};

/** Returns the text of the model and the reason why it ended. */
function answerTo({ messages }) {
  const last = messages.at(-1);
  // Where tools are in the prompt, a result is text of the user.
  const [, inPrompt] = /^<tool_response>\n(.*)\n<\/tool_response>$/s.exec(textOf(last.content)) ?? [];
  const result = last.role === "tool" ? textOf(last.content) : inPrompt;
  if (result !== undefined) return [`<think>Fine.</think>It says: ${result}`, "stop"];
  const word = Object.keys(TEXTS).find((word) => textOf(last.content).includes(word));
  return TEXTS[word] ?? ["<think>Hm.</think>Hello.", "stop"];
}

function textOf(content) {
  return typeof content === "string" ? content : content.map((part) => part.text).join("");
}

/** Starts the server. Returns its address, the requests it got, and a function that ends it. */
export async function scripted() {
  const requests = [];
  const server = createServer(async (request, response) => {
    const parts = [];
    for await (const part of request) parts.push(part);
    const body = JSON.parse(Buffer.concat(parts).toString());
    requests.push(body);
    const isPrepared = body.skip_special_tokens === false && (body.tool_choice ?? "none") === "none";
    if (!isPrepared) return response.writeHead(400).end('{"error": {"message": "not prepared"}}');
    const [text, finish_reason] = answerTo(body);
    const common = { id: `chat-${requests.length}`, created: 1, model: body.model };
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
    if (!body.stream) {
      const choices = [{ index: 0, message: { role: "assistant", content: text }, finish_reason }];
      response.writeHead(200, { "content-type": "application/json" });
      return response.end(JSON.stringify({ ...common, object: "chat.completion", choices, usage }));
    }
    response.writeHead(200, { "content-type": "text/event-stream" });
    const send = (choices, more) => {
      const chunk = { ...common, object: "chat.completion.chunk", choices, ...more };
      response.write(`data: ${JSON.stringify(chunk)}\n\n`);
    };
    send([{ index: 0, delta: { role: "assistant", content: "" }, finish_reason: null }]);
    for (const content of text.match(/.{1,4}/gsu)) {
      send([{ index: 0, delta: { content }, finish_reason: null }]);
    }
    send([{ index: 0, delta: {}, finish_reason }]);
    if (body.stream_options?.include_usage) send([], { usage });
    response.end("data: [DONE]\n\n");
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { baseURL: `http://127.0.0.1:${server.address().port}/v1`, requests, close };
}

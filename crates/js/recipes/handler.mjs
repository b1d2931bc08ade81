// A handler of web requests that streams the answer of a model to a page.
import { guardFetch, guardText } from "toolcall-parsers";

/** Returns a handler that passes clean chat completions on. */
export function proxy(upstream) {
  const ask = guardFetch({ server: "vllm" });
  return async (request) => {
    const body = await request.text();
    return ask(upstream, { method: "POST", body, headers: { "content-type": "application/json" } });
  };
}

/** Returns a handler that sends the events of one text, a line each. */
export function lines(texts, model) {
  return async () => {
    const encoder = new TextEncoder();
    const line = new TransformStream({
      transform: (event, controller) => controller.enqueue(encoder.encode(`${JSON.stringify(event)}\n`)),
    });
    const body = ReadableStream.from(texts()).pipeThrough(guardText({ model })).pipeThrough(line);
    return new Response(body, { headers: { "content-type": "application/x-ndjson" } });
  };
}

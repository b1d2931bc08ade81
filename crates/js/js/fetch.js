// A `fetch` that guards chat completions.
import { isInPrompt, isNamed } from "./guards.js";
import { isLines } from "./lines.js";

/** Returns `guardFetch` over the functions for chat completions. */
export function fetcher({ guardAnswer, guardLines, guardRequest }) {
  return function guardFetch(options = {}) {
    const { fetch: send = globalThis.fetch, server, ...settings } = options;
    const inPrompt = isInPrompt(settings.tools);

    return async (input, init) => {
      const asked = await requestOf(input, init);
      if (!asked) return send(input, init);
      const named = isNamed(settings) ? settings : { ...settings, model: asked.request.model };
      const guarded = { ...named, request: { ...settings.request, ...asked.request } };
      const { body, isRaw, noGrammar } = guardRequest(asked.request, { ...guarded, server });
      if (noGrammar !== undefined) settings.onDiagnostic?.({ kind: "no_grammar", reason: noGrammar });
      if (!isRaw && !inPrompt) return send(input, init);
      if (inPrompt) delete guarded.tools;
      // A server that parses answers separates reasoning, and leaves calls that it was not told of.
      if (!isRaw) guarded.start ??= "content";
      // Wrong settings are an error before the request is sent.
      const guard = guardAnswer(guarded);
      let isStream = false;
      try {
        const response = await send(...asked.withBody(JSON.stringify(body)));
        const type = response.headers.get("content-type") ?? "";
        if (!response.ok || response.body === null) return response;
        if (type.startsWith("text/event-stream")) {
          isStream = true;
          return answered(response, response.body.pipeThrough(guard.stream()));
        }
        if (isLines(type)) return answered(response, response.body.pipeThrough(guardLines(guarded)));
        if (!type.startsWith("application/json")) return response;
        return answered(response, guard.complete(await response.text()));
      } finally {
        if (!isStream) guard.free();
      }
    };
  };
}

/** Returns the chat-completion request in the arguments of `fetch`, if they have one. */
async function requestOf(input, init) {
  const isRequest = typeof Request === "function" && input instanceof Request;
  const method = init?.method ?? (isRequest ? input.method : "GET");
  if (method.toUpperCase() !== "POST") return undefined;
  const text = init?.body === undefined && isRequest ? await input.clone().text() : textOf(init?.body);
  const request = parsed(text);
  if (!Array.isArray(request?.messages)) return undefined;
  const withBody = (body) => {
    const headers = new Headers(init?.headers ?? (isRequest ? input.headers : undefined));
    // The length is that of the old body.
    headers.delete("content-length");
    return [input, { ...init, method, headers, body }];
  };
  return { request, withBody };
}

/** Returns the text of a body. Bodies of other kinds are not those of chat completions. */
function textOf(body) {
  if (typeof body === "string") return body;
  const isBytes = body instanceof Uint8Array || body instanceof ArrayBuffer;
  return isBytes ? new TextDecoder().decode(body) : undefined;
}

function parsed(text) {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns a response with another body, whose length and coding are its own. */
function answered({ status, statusText, headers }, body) {
  const own = new Headers(headers);
  own.delete("content-length");
  own.delete("content-encoding");
  return new Response(body, { status, statusText, headers: own });
}

// A model of the AI SDK that replays an answer. An engine that runs in the browser is used in the same
// way: it generates the pieces of text that this module has in a list.

const ANSWER = [
  "<think>", "\n", "Two", " cities", ":", " I", " look", " both", " up", ".", "\n", "</think>", "\n\n",
  "Let", " me", " look", ".", "\n", "<tool_call>", "\n", '{"', "name", '":', ' "', "get", "_weather", '",',
  ' "', "arguments", '":', ' {"', "city", '":', ' "', "Paris", '"}}', "\n", "</tool_call>", "\n",
  "<tool_call>", "\n", '{"', "name", '":', ' "', "get", "_weather", '",', ' "', "arguments", '":', ' {"',
  "city", '":', ' "', "Mal", "mö", '"}}', "\n", "</tool_call>",
];
/** Time between two pieces, in milliseconds. */
const PACE = 20;
const USAGE = {
  inputTokens: { total: 12, noCache: 12, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: ANSWER.length, text: ANSWER.length, reasoning: undefined },
};

async function* partsOf(pieces) {
  yield { type: "stream-start", warnings: [] };
  yield { type: "text-start", id: "1" };
  for (const delta of pieces) {
    await new Promise((resolve) => setTimeout(resolve, PACE));
    yield { type: "text-delta", id: "1", delta };
  }
  yield { type: "text-end", id: "1" };
  yield { type: "finish", finishReason: { unified: "stop", raw: "stop" }, usage: USAGE };
}

/** Makes a stream of what a generator yields; not every browser has `ReadableStream.from`. */
function streamOf(generator) {
  return new ReadableStream({
    async pull(controller) {
      const { value, done } = await generator.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
  });
}

/** The model. Its id names the family whose markup is in the text. */
export function replayedModel() {
  return {
    specificationVersion: "v4",
    provider: "browser",
    modelId: "Qwen/Qwen3-8B",
    supportedUrls: {},
    doStream: async () => ({ stream: streamOf(partsOf(ANSWER)) }),
    doGenerate: async () => {
      throw new Error("this model only streams");
    },
  };
}

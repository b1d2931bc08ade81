// Asks a server that parses nothing, through `guardFetch`: BASE. Lines are those of `client.py`. It is
// copied to the folder with the package.

import { createInterface } from "node:readline";
import { guardFetch } from "toolcall-parsers";

const [base] = process.argv.slice(2);
const guarded = guardFetch({ server: "vllm" });

async function ask(body) {
  const headers = { "content-type": "application/json" };
  const answer = await guarded(`${base}/v1/chat/completions`, { method: "POST", headers, body: JSON.stringify(body) });
  const text = await answer.text();
  if (!answer.ok) return { error: `${answer.status} ${text.slice(0, 200)}` };
  if (!body.stream) return [JSON.parse(text)];
  const data = text.split("\n").filter((line) => line.startsWith("data: {"));
  return data.map((line) => JSON.parse(line.slice(6)));
}

for await (const line of createInterface({ input: process.stdin })) {
  const answer = await ask(JSON.parse(line)).catch((error) => ({ error: String(error) }));
  console.log(JSON.stringify(answer));
}

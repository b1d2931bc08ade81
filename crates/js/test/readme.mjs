// The example of the README, and what it prints.
import { readFileSync } from "node:fs";

/** Returns the first block of code and the block after it. */
export function example() {
  const readme = readFileSync(new URL("README.md", import.meta.url), "utf8");
  const [, code, printed] = /```js\n(.*?)```\n\n```text\n(.*?)```/s.exec(readme);
  return { code, printed };
}

// Uses the page that explains recordings as a reader would:
// node walk.mjs PAGE PICTURES BROWSER FAULTS
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [file, pictures, name, faults] = process.argv.slice(2);
const browser = execFileSync("which", [name], { encoding: "utf8" }).trim();
const { chromium } = createRequire(join(process.cwd(), "x.js"))("playwright-core");

/** The recordings of `docs/explain.md`: how each is read, and what is found first. */
const FAULTS = [
  ["prompt_opened_thinking", "qwen3", "prompt_opened_reasoning"],
  ["wrong_family", "qwen3", "wrong_family"],
  ["stripped_tokens", "moonshotai/Kimi-K2-Instruct", "stripped_markers"],
  ["truncated_call", "Qwen/Qwen3-8B", "truncated_call"],
  ["opener_in_prose", "Qwen/Qwen3-8B", "opener_in_prose"],
  ["usage_in_call", "Qwen/Qwen3-8B", "usage_in_call"],
];
const CHUNK = (content) => `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`;
const HOSTILE = [
  ["script", '</script><script>parent.document.title = "taken"</script><img src=x onerror=alert(1)>'],
  ["events", CHUNK("</textarea><svg onload=alert(1)><tool_call>{\"name\": \"</script><b>\", \"arguments\": {}}</tool_call>")],
  ["address", CHUNK('[x](javascript:alert(1)) <a href="https://example.invalid/">y</a> <link rel=stylesheet href="//example.invalid/">')],
  ["bytes", Buffer.from([0xff, 0xfe, 0x00, 0xc3, 0x28, 0xed, 0xa0, 0x80, 0x0a, 0x64, 0x61, 0x74, 0x61, 0x3a])],
  ["nested", `data: ${"[".repeat(200_000)}\n\n`],
  ["halves", CHUNK("\ud83c").replace("\ud83c", "\\ud83c") + CHUNK("x")],
  ["choices", `data: {"choices":[{"index":4294967296,"delta":{"content":"x"}},{"index":-1}]}\n\ndata: null\n\n`],
  ["markers", CHUNK("<tool_call>".repeat(20_000))],
  ["constructor", CHUNK('<tool_call>{"name": "__proto__", "arguments": {"__proto__": {"a": 1}}}</tool_call>')],
  ["log", "< HTTP/1.1 500\n< \n* end\n"],
];
/** Longest time for one explanation, in milliseconds. */
const PATIENCE = 60_000;
/** Longest work of the page's thread for a recording of 1 MiB, in seconds; about 1 is usual. */
const LONGEST_WORK = 5;

const running = await chromium.launch({ executablePath: browser, args: ["--no-sandbox", "--disable-gpu"] });
const seen = [];

async function opened(options) {
  const context = await running.newContext({ acceptDownloads: true, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE);
  page.on("pageerror", (error) => seen.push(`error: ${error}`));
  page.on("console", (message) => seen.push(`console: ${message.text()}`));
  page.on("dialog", (dialog) => seen.push(`dialog: ${dialog.message()}`));
  page.on("request", (request) => {
    if (!/^(file|about|data|blob):/.test(request.url())) seen.push(`request: ${request.url()}`);
  });
  await page.goto(pathToFileURL(file).href);
  await page.waitForSelector("html[data-ready]");
  return page;
}

/** Explains a file and returns what was found. */
async function explained(page, { name, buffer, family = "" }) {
  await page.fill("#name", family);
  await page.evaluate(() => delete document.documentElement.dataset.findings);
  await page.setInputFiles("#file", { name, mimeType: "text/plain", buffer });
  await page.waitForFunction(
    () =>
      "findings" in document.documentElement.dataset || document.getElementById("fault").textContent,
  );
  const fault = await page.textContent("#fault");
  if (fault) return { fault };
  await page.frameLocator("#result").locator("html[data-ready]").waitFor({ state: "attached" });
  return { findings: (await page.getAttribute("html", "data-findings")).split(" ") };
}

const page = await opened({ viewport: { width: 1200, height: 1500 } });
for (const [name, family, finding] of FAULTS) {
  const buffer = readFileSync(join(faults, `${name}.sse`));
  const { findings } = await explained(page, { name: `${name}.sse`, buffer, family });
  assert.equal(findings?.[0], finding, name);
  await page.screenshot({ path: join(pictures, `${name}.png`) });
}

const part =
  "<think>Two cities.</think>\n<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Malmö\"}}\n</tool_call>\nDone.\n";
const text = part.repeat(Math.ceil((1 << 20) / part.length));
const long = text.match(/.{1,24}/gsu).map((piece) => JSON.stringify(piece)).join("\n");
const work = await page.context().newCDPSession(page);
await work.send("Performance.enable", { timeDomain: "threadTicks" });
const worked = async () => {
  const { metrics } = await work.send("Performance.getMetrics");
  return metrics.find(({ name }) => name === "TaskDuration").value;
};
const before = await worked();
const found = await explained(page, { name: "long.jsonl", buffer: Buffer.from(long), family: "qwen3" });
assert.ok(found.findings, "a long recording is explained");
const seconds = (await worked()) - before;
console.log(`a recording of 1 MiB took ${seconds.toFixed(2)} s of the page's thread`);
assert.ok(seconds < LONGEST_WORK, `explaining took ${seconds} s`);

for (const [name, recording] of HOSTILE) {
  for (const family of ["", "qwen3", "harmony"]) {
    await explained(page, { name: `<b onclick=x>${name}`, buffer: Buffer.from(recording), family });
  }
}
assert.equal(await page.title(), "What became of a recording");
const empty = await explained(page, { name: "empty", buffer: Buffer.alloc(0) });
assert.match(empty.fault, /no recording/);

// The keyboard alone.
const keys = await opened({ viewport: { width: 1200, height: 900 }, colorScheme: "dark" });
await keys.keyboard.press("Tab");
await keys.keyboard.insertText(readFileSync(join(faults, "wrong_family.sse"), "utf8"));
for (const expected of ["file", "name", "start", "explain"]) {
  await keys.keyboard.press("Tab");
  assert.equal(await keys.evaluate(() => document.activeElement.id), expected);
  if (expected === "name") await keys.keyboard.insertText("qwen3");
}
await keys.keyboard.press("Enter");
await keys.waitForSelector('html[data-findings~="wrong_family"]', { state: "attached" });
await keys.keyboard.press("Tab");
const [download] = await Promise.all([keys.waitForEvent("download"), keys.keyboard.press("Enter")]);
const saved = join(pictures, "saved.html");
await download.saveAs(saved);
await keys.frameLocator("#result").locator("html[data-ready]").waitFor({ state: "attached" });
await keys.screenshot({ path: join(pictures, "dark.png") });
await keys.goto(pathToFileURL(saved).href);
await keys.waitForSelector("html[data-ready]", { state: "attached" });

for (const colorScheme of ["light", "dark"]) {
  const phone = await opened({ viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true, colorScheme });
  const buffer = readFileSync(join(faults, "truncated_call.sse"));
  await explained(phone, { name: "truncated_call.sse", buffer, family: "Qwen/Qwen3-8B" });
  const wide = () => document.documentElement.scrollWidth - window.innerWidth;
  assert.ok((await phone.evaluate(wide)) <= 0, "the page fits a phone");
  // A frame outside the view is not painted.
  await phone.locator("#result").scrollIntoViewIfNeeded();
  const painted = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  await phone.frameLocator("#result").locator("h1, h2").first().evaluate(painted);
  await phone.screenshot({ path: join(pictures, `phone-${colorScheme}.png`), fullPage: true });
}

// A file that is dropped, then text that is dropped.
const dropped = await opened({});
await dropped.fill("#name", "qwen3");
const drop = async (isFile, text) => {
  const dataTransfer = await dropped.evaluateHandle(
    ([isFile, text]) => {
      const transfer = new DataTransfer();
      if (isFile) transfer.items.add(new File([text], "dropped.sse"));
      else transfer.setData("text/plain", text);
      return transfer;
    },
    [isFile, text],
  );
  const isMarked = () =>
    dropped.evaluate(() => document.getElementById("recording").classList.contains("over"));
  await dropped.dispatchEvent("body", "dragover", { dataTransfer });
  assert.ok(await isMarked(), "the field shows where a recording may be dropped");
  await dropped.dispatchEvent("body", "drop", { dataTransfer });
  assert.ok(!(await isMarked()));
};
await drop(true, readFileSync(join(faults, "wrong_family.sse"), "utf8"));
await dropped.waitForSelector('html[data-findings~="wrong_family"]', { state: "attached" });
await drop(false, "Let me see.</think>Hi.");
assert.equal(await dropped.inputValue("#recording"), "Let me see.</think>Hi.");
await dropped.click("#explain");
await dropped.waitForSelector('html[data-findings~="prompt_opened_reasoning"]', { state: "attached" });

// The log of curl, pasted, without a name.
const pasted = await opened({});
const log = `* Connected\n> POST / HTTP/1.1\n> \n< HTTP/1.1 200 OK\n< \n${CHUNK("<|channel|>analysis<|message|>hm<|end|>")}`;
await pasted.fill("#recording", log);
await pasted.click("#explain");
await pasted.waitForSelector("html[data-findings]", { state: "attached" });
assert.match(await pasted.textContent("#state"), /harmony/);
await running.close();
assert.deepEqual(seen, []);
console.log(`the page that explains recordings is whole; pictures of it are in ${pictures}`);

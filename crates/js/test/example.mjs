// Opens the page with a model in the browser and reads what it shows:
// node example.mjs PAGE-DIRECTORY BROWSER PICTURE
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { extname, join } from "node:path";

const [directory, name, picture] = process.argv.slice(2);
const executablePath = execFileSync("which", [name], { encoding: "utf8" }).trim();
const { chromium } = createRequire(join(process.cwd(), "x.js"))("playwright-core");
const TYPES = { ".js": "text/javascript", ".html": "text/html" };
const FILES = ["index.html", "chat.js"];

const server = createServer((request, response) => {
  const file = new URL(request.url, "http://localhost").pathname.slice(1) || "index.html";
  if (!FILES.includes(file)) return response.writeHead(404).end();
  response.writeHead(200, { "content-type": TYPES[extname(file)] });
  response.end(readFileSync(join(directory, file)));
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
try {
  const page = await browser.newPage({ viewport: { width: 700, height: 700 } });
  const faults = [];
  page.on("pageerror", (error) => faults.push(String(error)));
  page.on("console", (message) => {
    if (!message.text().includes("favicon") && message.type() === "error") faults.push(message.text());
  });
  await page.goto(`http://127.0.0.1:${server.address().port}/index.html`);
  const reached = page.waitForFunction(() =>
    document.getElementById("state").textContent.startsWith("Finished"),
  );
  // A call is shown before it is complete.
  await page.waitForFunction(() => document.querySelector(".call")?.textContent.includes("arriving"));
  await reached;
  assert.equal(await page.textContent("#state"), "Finished: tool-calls");
  assert.equal((await page.textContent("#reasoning")).trim(), "Two cities: I look both up.");
  assert.equal((await page.textContent("#answer")).trim(), "Let me look.");
  const cards = await page.locator(".call").allTextContents();
  assert.deepEqual(
    cards.map((card) => card.replace(/\s+/g, " ")),
    ["Paris", "Malmö"].map((city) => `get_weather: complete{ "city": "${city}" }`),
  );
  assert.deepEqual(faults, []);
  await page.screenshot({ path: picture });
} finally {
  await browser.close();
  server.close();
}
console.log("the example with a model in the browser works");

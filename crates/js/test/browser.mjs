// Runs the README's example in a browser, under a policy that allows nothing but the package:
// node browser.mjs BROWSER
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";

import { example } from "./readme.mjs";

const POLICY =
  "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'; base-uri 'none'";
const TYPES = { ".js": "text/javascript", ".wasm": "application/wasm", ".html": "text/html" };
const FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--no-first-run",
];
/** How long the browser may take, in milliseconds. */
const PATIENCE = 120_000;

const { code, printed } = example();
// A page without a bundler names the file.
const own = code.replace('"toolcall-parsers"', '"/node_modules/toolcall-parsers/js/all/web.js"');
const script = `
const lines = [];
const report = (text) => fetch("/result", { method: "POST", body: text });
console.log = (...words) => lines.push(words.join(" ") + "\\n");
window.addEventListener("unhandledrejection", (event) => report(String(event.reason)));
document.addEventListener("securitypolicyviolation", (event) => report("blocked: " + event.blockedURI));
import("/example.js").then(() => report(lines.join("")), (error) => report(String(error)));
`;
const made = {
  "/": '<!doctype html><title>test</title><script type="module" src="/script.js"></script>',
  "/script.js": script,
  "/example.js": own,
};

const profile = mkdtempSync(join(tmpdir(), "browser-"));
const result = await new Promise((resolve, reject) => {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url, "http://localhost");
    if (pathname === "/result") {
      const parts = [];
      request.on("data", (part) => parts.push(part));
      request.on("end", () => {
        response.end();
        finish(resolve, Buffer.concat(parts).toString());
      });
      return;
    }
    const known = made[pathname] !== undefined || pathname.startsWith("/node_modules/toolcall-parsers/");
    if (!known || pathname.includes("..")) {
      response.writeHead(404).end();
      return;
    }
    const type = TYPES[extname(pathname)] ?? TYPES[".html"];
    response.writeHead(200, { "content-type": type, "content-security-policy": POLICY });
    response.end(made[pathname] ?? readFileSync(new URL(`.${pathname}`, import.meta.url)));
  });
  let child;
  const finish = (settle, value) => {
    clearTimeout(timer);
    server.close();
    server.closeAllConnections();
    child.on("exit", () => settle(value));
    child.kill();
  };
  const timer = setTimeout(() => finish(reject, new Error("the browser did not report")), PATIENCE);
  server.listen(0, "127.0.0.1", () => {
    const address = `http://127.0.0.1:${server.address().port}/`;
    const flags = [...FLAGS, `--user-data-dir=${profile}`, address];
    child = spawn(process.argv[2], flags, { stdio: "ignore" });
    child.on("error", reject);
  });
});
assert.equal(result, printed);
// Helpers of the browser end after it, and write to its profile until then. What they leave is no fault
// of the package.
const removal = { recursive: true, force: true, maxRetries: 20, retryDelay: 250 };
await rm(profile, removal).catch(({ message }) => console.log(`the profile of the browser stays: ${message}`));
console.log("the example of the README runs in the browser");

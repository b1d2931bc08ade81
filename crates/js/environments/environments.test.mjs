// Builds and runs one small program with each bundler and runtime:
// node --test environments.test.mjs, where the package and the tools are installed.
import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { build as esbuild } from "esbuild";
import { Miniflare } from "miniflare";
import { build as vite } from "vite";

const EXPECTED = "ring complete, ring complete";
const HERE = fileURLToPath(new URL(".", import.meta.url));
/** How long a server may take to start, in milliseconds. */
const PATIENCE = 60_000;

/** Runs a program of `node_modules/.bin`, or Node, and returns what it prints. */
function output(program, args, cwd = HERE) {
  const path = program === "node" ? process.execPath : `${HERE}node_modules/.bin/${program}`;
  return execFileSync(path, args, { cwd, encoding: "utf8", stdio: "pipe" }).trim();
}

/** Moves what was built to a directory without packages and runs it there. */
function alone(directory, script = "print.js") {
  const place = `/tmp/alone-${process.pid}`;
  rmSync(place, { recursive: true, force: true });
  cpSync(`${HERE}${directory}`, place, { recursive: true });
  writeFileSync(`${place}/package.json`, '{ "type": "module" }');
  try {
    return output("node", [script], place);
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

test("import and require in Node give one module", () => {
  assert.equal(output("node", ["print.js"]), EXPECTED);
  assert.equal(output("node", ["common.cjs"]), "ring complete true");
});

for (const platform of ["node", "browser"]) {
  test(`esbuild for ${platform}`, async () => {
    await esbuild({
      entryPoints: ["print.js"],
      absWorkingDir: HERE,
      bundle: true,
      minify: true,
      format: "esm",
      platform,
      outfile: `built/esbuild-${platform}/print.js`,
      logLevel: "error",
    });
    assert.equal(alone(`built/esbuild-${platform}`), EXPECTED);
  });
}

test("esbuild writes CommonJS", async () => {
  const outfile = "built/esbuild-cjs/print.cjs";
  await esbuild({
    entryPoints: ["common.cjs"],
    absWorkingDir: HERE,
    bundle: true,
    format: "cjs",
    platform: "node",
    outfile,
    logLevel: "error",
  });
  assert.match(alone("built/esbuild-cjs", "print.cjs"), /^ring complete/);
});

test("Vite with all packages in the server's bundle", async () => {
  const outDir = `${HERE}built/vite-server`;
  await vite({
    root: HERE,
    configFile: false,
    logLevel: "error",
    ssr: { noExternal: true },
    build: { ssr: "print.js", outDir, emptyOutDir: true },
  });
  assert.equal(alone("built/vite-server"), EXPECTED);
});

test("Vite for browsers", async () => {
  const outDir = `${HERE}built/vite-browser`;
  await vite({
    root: HERE,
    configFile: false,
    logLevel: "error",
    build: {
      outDir,
      emptyOutDir: true,
      // The answer is printed by Node, which has no document to preload code with.
      modulePreload: false,
      target: "es2022",
      rollupOptions: { input: `${HERE}print.js`, output: { entryFileNames: "print.js" } },
    },
  });
  assert.equal(alone("built/vite-browser"), EXPECTED);
});

test("Bun runs it and bundles it", () => {
  assert.equal(output("bun", ["print.js"]), EXPECTED);
  for (const target of ["node", "bun", "browser"]) {
    const outfile = `built/bun-${target}/print.js`;
    output("bun", ["build", "print.js", `--target=${target}`, `--outfile=${outfile}`]);
    const run = target === "bun" ? output("bun", [outfile]) : alone(`built/bun-${target}`);
    assert.equal(run, EXPECTED, target);
  }
});

test("a worker of workerd", async () => {
  const outdir = `${HERE}built/worker`;
  await esbuild({
    entryPoints: ["worker.js"],
    absWorkingDir: HERE,
    bundle: true,
    format: "esm",
    conditions: ["workerd", "worker", "browser"],
    loader: { ".wasm": "copy" },
    assetNames: "[name]",
    outdir,
    logLevel: "error",
  });
  const module = (type, path) => ({ type, path: `${outdir}/${path}` });
  const worker = new Miniflare({
    modulesRoot: outdir,
    modules: [
      module("ESModule", "worker.js"),
      module("CompiledWasm", "guard_bg.wasm"),
      module("CompiledWasm", "core_bg.wasm"),
    ],
    compatibilityDate: "2026-01-01",
  });
  try {
    const response = await worker.dispatchFetch("http://localhost/");
    assert.equal(await response.text(), EXPECTED);
  } finally {
    await worker.dispose();
  }
});

test("a package that is linked", () => {
  const place = `${HERE}built/linked`;
  rmSync(place, { recursive: true, force: true });
  mkdirSync(`${place}/node_modules`, { recursive: true });
  cpSync(`${HERE}node_modules/toolcall-parsers`, `${place}/elsewhere`, { recursive: true });
  symlinkSync("../elsewhere", `${place}/node_modules/toolcall-parsers`);
  for (const file of ["answer.js", "print.js", "common.cjs"]) cpSync(HERE + file, `${place}/${file}`);
  writeFileSync(`${place}/package.json`, '{ "type": "module" }');
  assert.equal(output("node", ["print.js"], place), EXPECTED);
  assert.equal(output("node", ["common.cjs"], place), "ring complete true");
  cpSync(`${HERE}types/program.ts`, `${place}/program.ts`);
  assert.equal(checked(place, "nodenext", "nodenext", "program.ts"), "");
});

/** Checks types with a kind of modules and a way to find them. Returns the compiler's report. */
function checked(cwd, module, resolution, file) {
  const compiler = `${HERE}node_modules/typescript/bin/tsc`;
  const flags = "--strict --noEmit --target es2022 --lib es2022,dom --esModuleInterop --types node";
  const roots = `--typeRoots ${HERE}node_modules/@types`;
  const line = `${flags} ${roots} --module ${module} --moduleResolution ${resolution} ${file}`;
  const { stdout } = spawnSync(process.execPath, [compiler, ...line.split(" ")], { cwd, encoding: "utf8" });
  return stdout;
}

for (const [module, resolution, kind] of [
  ["nodenext", "nodenext", "module"],
  ["node16", "node16", "module"],
  ["node16", "node16", "commonjs"],
  ["commonjs", "node10", "commonjs"],
  ["esnext", "bundler", "module"],
]) {
  test(`types of a program: ${module}, ${resolution}, ${kind}`, () => {
    const place = `${HERE}built/types-${module}-${resolution}-${kind}`;
    mkdirSync(place, { recursive: true });
    cpSync(`${HERE}types`, place, { recursive: true });
    writeFileSync(`${place}/package.json`, JSON.stringify({ type: kind }));
    assert.equal(checked(place, module, resolution, "program.ts"), "");
  });
}

for (const version of ["ai6", "ai7"]) {
  test(`types of the AI SDK: ${version} alone`, () => {
    const place = `${HERE}built/types-${version}`;
    mkdirSync(place, { recursive: true });
    const code = readFileSync(`${HERE}types/sdk.ts`, "utf8").replace('"ai"', `"${version}"`);
    writeFileSync(`${place}/sdk.ts`, code);
    writeFileSync(`${place}/package.json`, '{ "type": "module" }');
    assert.equal(checked(place, "nodenext", "nodenext", "--skipLibCheck sdk.ts"), "");
  });
}

/** Returns a port that is free now. */
async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Asks a server until it answers. */
async function asked(address) {
  for (const until = Date.now() + PATIENCE; ; ) {
    try {
      const response = await fetch(address);
      return await response.text();
    } catch (error) {
      if (Date.now() > until) throw error;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
}

for (const bundler of ["turbopack", "webpack"]) {
  test(`Next with ${bundler}: a route and a component of the client`, async (context) => {
    const place = `${HERE}next`;
    cpSync(`${HERE}answer.js`, `${place}/answer.js`);
    rmSync(`${place}/.next`, { recursive: true, force: true });
    const env = { ...process.env, NEXT_TELEMETRY_DISABLED: "1" };
    const next = `${HERE}node_modules/.bin/next`;
    execFileSync(next, ["build", `--${bundler}`], { cwd: place, env, stdio: "pipe" });
    const port = await freePort();
    const flags = ["start", "--hostname", "127.0.0.1", "--port", String(port)];
    const server = spawn(next, flags, { cwd: place, env, stdio: "ignore" });
    try {
      const address = `http://127.0.0.1:${port}`;
      assert.equal(await asked(`${address}/answer`), EXPECTED);
      const shown = await shownBy(`${address}/`);
      if (shown === undefined) context.diagnostic("the client's component was built and not run");
      else assert.equal(shown, EXPECTED);
    } finally {
      server.kill();
    }
  });
}

/** Returns the answer that a page shows in a browser, if there is one. */
async function shownBy(address) {
  if (!process.env.BROWSER) return undefined;
  const { chromium } = await import("playwright-core");
  const browser = await chromium.launch({
    executablePath: process.env.BROWSER,
    args: ["--no-sandbox", "--disable-gpu"],
  });
  try {
    const page = await browser.newPage();
    await page.goto(address);
    await page.waitForFunction(() => document.getElementById("answer").textContent !== "none");
    return await page.textContent("#answer");
  } finally {
    await browser.close();
  }
}

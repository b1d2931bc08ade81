// Puts the page that explains recordings together: node build.mjs WASM-DIRECTORY PAGE
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const [directory, page] = process.argv.slice(2);
const template = readFileSync(new URL("index.html", import.meta.url), "utf8");
const glue = readFileSync(join(directory, "script.js"), "utf8").replaceAll("</script", "<\\/script");
const module = readFileSync(join(directory, "script_bg.wasm")).toString("base64");
const [head, middle, tail] = template.split(/"__GLUE__"|__MODULE__/);
writeFileSync(page, [head, glue, middle, module, tail].join(""));

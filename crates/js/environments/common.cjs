const { parse, SettingsError } = require("toolcall-parsers");
const core = require("toolcall-parsers/core");
const { guardMiddleware } = require("toolcall-parsers/ai");

const [{ name, outcome }] = parse('<tool_call>{"name": "ring"}</tool_call>', { family: "hermes" }).calls;
const isSame = SettingsError === core.SettingsError && typeof guardMiddleware === "function";
import("toolcall-parsers").then((imported) => {
  console.log(name, outcome, isSame && imported.parse === parse);
});

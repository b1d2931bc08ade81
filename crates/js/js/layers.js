// The functions of the whole module.
import { chat } from "./chat.js";
import { guards } from "./guards.js";
import { middleware } from "./middleware.js";
import { bytesOf, textOf } from "./text.js";

/** Returns the functions of the compiled module `native`. */
export function layers(native) {
  const basic = guards(native);
  const made = (make) => basic.loader.made(make);

  function profile(settings) {
    return JSON.parse(made(() => native.profile(textOf(settings))));
  }

  function encode(calls, settings) {
    return made(() => native.encode(JSON.stringify(calls), textOf(settings)));
  }

  function derive(source, render) {
    const config = typeof source === "string" ? { chat_template: source } : source;
    const renderer = { render: (template, variables) => rendered(render, template, variables) };
    return made(() => native.derive(textOf(config), renderer));
  }

  function detect(text) {
    return JSON.parse(made(() => native.detect(text)));
  }

  function report(recording, settings, read) {
    const { name = "recording", ...rest } = settings ?? {};
    const bytes = recordingOf(recording);
    const explained = made(() => new native.NativeReport(bytes, textOf(rest), name));
    try {
      return made(() => read(explained));
    } finally {
      explained.free();
    }
  }

  function explain(recording, settings) {
    return JSON.parse(report(recording, settings, (explained) => explained.json()));
  }

  function explainPage(recording, settings) {
    return report(recording, settings, (explained) => explained.page());
  }

  const answers = chat(native, made, basic.guardRequest);
  const guardMiddleware = middleware(basic);
  return { ...basic, ...answers, derive, detect, encode, explain, explainPage, guardMiddleware, profile };
}

/** Renders a template. The module reads the reason why that failed as a text. */
function rendered(render, template, variables) {
  try {
    return String(render(template, JSON.parse(variables)));
  } catch (error) {
    throw String(error?.message ?? error);
  }
}

function recordingOf(recording) {
  return typeof recording === "string" ? new TextEncoder().encode(recording) : bytesOf(recording);
}

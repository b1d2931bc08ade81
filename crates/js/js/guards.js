// The functions of both modules: a guard, and a view of arguments. An entry loads its module first.
import { SettingsError, StateError, StreamError } from "./errors.js";
import { Loader } from "./loader.js";
import { pipe } from "./pipe.js";
import { Halves, bytesOf, textOf } from "./text.js";
import { argumentsView } from "./view.js";

/** Returns the functions of the compiled module `native`. */
export function guards(native) {
  const loader = new Loader(native);
  const made = (make) => loader.made(make);

  class Guard {
    #native;
    #halves = new Halves();
    #isOver = false;

    constructor(settings) {
      this.#native = made(() => new native.NativeGuard(textOf(settings)));
    }

    push(chunk) {
      const open = this.#open();
      const json =
        typeof chunk === "string"
          ? open.push(this.#halves.whole(chunk))
          : open.push_bytes(bytesOf(chunk));
      return eventsOf(json);
    }

    pushMarker(text) {
      return eventsOf(this.#open().push_marker(text));
    }

    finish(end = "stop") {
      const open = this.#open();
      const half = this.#halves.rest();
      const events = half ? this.push(half) : [];
      const last = made(() => open.finish(end));
      this.#isOver = true;
      return events.concat(eventsOf(last));
    }

    parse(text, end = "stop") {
      return JSON.parse(made(() => this.#alive().parse(text, end)));
    }

    callText(text, index) {
      return this.#alive().call_text(text, index);
    }

    reset() {
      this.#alive().reset();
      this.#halves.rest();
      this.#isOver = false;
    }

    free() {
      this.#native?.free();
      this.#native = undefined;
    }

    [Symbol.dispose]() {
      this.free();
    }

    get held() {
      return this.#alive().held();
    }

    get family() {
      return this.#alive().family();
    }

    get needsSpecialTokens() {
      return this.#alive().needs_special_tokens();
    }

    #alive() {
      if (this.#native) return this.#native;
      throw new StateError("the guard was freed", "freed");
    }

    #open() {
      if (!this.#isOver) return this.#alive();
      throw new StateError("the message is over; `reset` begins another", "over");
    }
  }

  function parse(text, settings) {
    const { end, ...rest } = settings;
    const guard = new Guard(rest);
    try {
      return guard.parse(text, end);
    } finally {
      guard.free();
    }
  }

  function guardText(settings) {
    const { end = "stop", ...rest } = settings;
    const guard = new Guard(rest);
    return pipe({
      push: (chunk) => guard.push(chunk),
      finish: () => guard.finish(endOf(end)),
      free: () => guard.free(),
    });
  }

  function guardRequest(request, settings) {
    const { server = "other", tools, ...rest } = settings ?? {};
    const inPrompt = isInPrompt(tools);
    // Only a profile of the program's own may remap delimiters.
    const isChanged = server !== "other" || inPrompt || rest.profile != null;
    if (!isChanged) return { body: request, isRaw: true };
    const { model, family, profile, familyFile, template, tokenSuffix, markerTokens, prompt, start } = rest;
    const named = { model, family, profile, familyFile, template, request: { model: request.model } };
    const text = textOf({ ...named, tokenSuffix, markerTokens, prompt, start });
    const asked = server === "other" ? undefined : server;
    return JSON.parse(made(() => native.prepareRequest(JSON.stringify(request), text, asked, inPrompt)));
  }

  const families = () => made(() => native.families());
  const ArgumentsView = argumentsView(native, made);
  return { ArgumentsView, families, Guard, guardRequest, guardText, loader, parse };
}

/** Returns whether the tools of requests go into the prompt. A list of tools has no effect on them. */
export function isInPrompt(tools) {
  if (typeof tools !== "string") return false;
  if (tools === "prompt") return true;
  throw new SettingsError(`tools: expected a list or \`prompt\`, found \`${tools}\``);
}

/** Returns whether settings name the format of the text. */
export function isNamed({ model, family, profile, familyFile, template }) {
  return (model ?? family ?? profile ?? familyFile ?? template) != null;
}

/** Returns how a stream ended: the word itself, or what a function reports at the end. */
export function endOf(end) {
  return typeof end === "function" ? end() : end;
}

function eventsOf(json) {
  const events = JSON.parse(json);
  if (events.at(-1)?.kind !== "error") return events;
  const { message } = events.pop();
  throw new StreamError(message, events);
}

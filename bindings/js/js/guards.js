// The functions of both modules: a guard, and a view of arguments. An entry loads its module first.
import { StreamError } from "./errors.js";
import { Loader } from "./loader.js";
import { Halves, bytesOf, textOf } from "./text.js";
import { argumentsView } from "./view.js";

/** Returns the functions of the compiled module `native`. */
export function guards(native) {
  const loader = new Loader(native);
  const made = (make) => loader.made(make);

  class Guard {
    #native;
    #halves = new Halves();
    #over = false;

    constructor(settings) {
      this.#native = made(() => new native.NativeGuard(textOf(settings)));
    }

    push(chunk) {
      if (this.#over) throw new Error("the message is over; `reset` begins another");
      const json =
        typeof chunk === "string"
          ? this.#native.push(this.#halves.whole(chunk))
          : this.#native.push_bytes(bytesOf(chunk));
      return eventsOf(json);
    }

    pushMarker(text) {
      if (this.#over) throw new Error("the message is over; `reset` begins another");
      return eventsOf(this.#native.push_marker(text));
    }

    finish(end = "stop") {
      const half = this.#halves.rest();
      const events = half ? this.push(half) : [];
      const last = made(() => this.#native.finish(end));
      this.#over = true;
      return events.concat(eventsOf(last));
    }

    parse(text, end = "stop") {
      return JSON.parse(made(() => this.#native.parse(text, end)));
    }

    reset() {
      this.#native.reset();
      this.#halves.rest();
      this.#over = false;
    }

    get held() {
      return this.#native.held();
    }

    get family() {
      return this.#native.family();
    }

    get needsSpecialTokens() {
      return this.#native.needs_special_tokens();
    }
  }

  function parse(text, settings) {
    const { end, ...rest } = settings;
    return new Guard(rest).parse(text, end);
  }

  function guardText(settings) {
    const guard = new Guard(settings);
    const emit = (read, controller) => {
      try {
        for (const event of read()) controller.enqueue(event);
      } catch (error) {
        for (const event of error.released ?? []) controller.enqueue(event);
        throw error;
      }
    };
    return new TransformStream({
      transform: (chunk, controller) => emit(() => guard.push(chunk), controller),
      flush: (controller) => emit(() => guard.finish(), controller),
    });
  }

  const families = () => made(() => native.families());
  const ArgumentsView = argumentsView(native, made);
  return { ArgumentsView, families, Guard, guardText, loader, parse };
}

function eventsOf(json) {
  const events = JSON.parse(json);
  if (events.at(-1)?.kind !== "error") return events;
  const { message } = events.pop();
  throw new StreamError(message, events);
}

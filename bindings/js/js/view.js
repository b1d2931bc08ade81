// A view of arguments that are still arriving.
import { Halves } from "./text.js";

/** Returns the class of views for the compiled module `native`. */
export function argumentsView(native, made) {
  return class ArgumentsView {
    #native = made(() => new native.NativeArguments());
    #halves = new Halves();
    #path = [];
    /** The value at each length of the path. */
    #values = [{}];
    /** Whether text without quotes and backslashes would only be appended to a string. */
    #isInText = false;

    push(fragment) {
      const text = this.#halves.whole(fragment);
      if (text === "") return [];
      if (this.#isInText && !/["\\]/.test(text)) {
        this.#append(this.#path.length, text);
        return [[...this.#path]];
      }
      const changed = [];
      const edits = JSON.parse(this.#native.push(text));
      this.#isInText = this.#native.is_in_text();
      for (const [length, step, value] of edits) {
        if (value === undefined) this.#append(length, step);
        else this.#set(length, step, value);
        const last = changed.at(-1);
        if (value !== undefined || !last || last.length !== this.#path.length) {
          changed.push([...this.#path]);
        }
      }
      return changed;
    }

    #set(length, step, value) {
      this.#path.length = Math.max(length, 0);
      this.#values.length = length + 1;
      if (length >= 0) {
        put(this.#values[length], step, value);
        this.#path.push(step);
      }
      this.#values.push(value);
    }

    #append(length, text) {
      this.#path.length = length;
      this.#values.length = length + 1;
      this.#values[length] += text;
      if (length > 0) put(this.#values[length - 1], this.#path[length - 1], this.#values[length]);
    }

    get value() {
      return this.#values[0];
    }

    get isComplete() {
      return this.#native.state() === 1;
    }

    get isMalformed() {
      return this.#native.state() === 2;
    }
  };
}

/** Sets a member. A member called `__proto__` is not special. */
function put(container, step, value) {
  if (step === "__proto__") {
    const own = { value, writable: true, enumerable: true, configurable: true };
    Object.defineProperty(container, step, own);
  } else {
    container[step] = value;
  }
}

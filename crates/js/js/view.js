// A view of arguments that are still arriving.
import { StateError } from "./errors.js";
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
    /** What `snapshot` returned last, unless something changed since. */
    #snapshot;

    push(fragment) {
      const open = this.#alive();
      const text = this.#halves.whole(fragment);
      if (text === "") return [];
      if (this.#isInText && !/["\\]/.test(text)) {
        this.#append(this.#path.length, text);
        return [[...this.#path]];
      }
      const changed = [];
      const edits = JSON.parse(open.push(text));
      this.#isInText = open.is_in_text();
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
      this.#snapshot = undefined;
      this.#path.length = Math.max(length, 0);
      this.#values.length = length + 1;
      if (length >= 0) {
        put(this.#values[length], step, value);
        this.#path.push(step);
      }
      this.#values.push(value);
    }

    #append(length, text) {
      this.#snapshot = undefined;
      this.#path.length = length;
      this.#values.length = length + 1;
      this.#values[length] += text;
      if (length > 0) put(this.#values[length - 1], this.#path[length - 1], this.#values[length]);
    }

    get value() {
      return this.#values[0];
    }

    /** Only the containers that are still open can change, so that the others are shared. */
    snapshot() {
      if (this.#snapshot !== undefined) return this.#snapshot;
      this.#snapshot = this.#values[0];
      this.#values = this.#values.map(copied);
      for (let length = this.#values.length - 1; length > 0; length--) {
        put(this.#values[length - 1], this.#path[length - 1], this.#values[length]);
      }
      return this.#snapshot;
    }

    get isComplete() {
      return this.#alive().state() === 1;
    }

    get isMalformed() {
      return this.#alive().state() === 2;
    }

    free() {
      this.#native?.free();
      this.#native = undefined;
    }

    [Symbol.dispose]() {
      this.free();
    }

    #alive() {
      if (this.#native) return this.#native;
      throw new StateError("the view was freed", "freed");
    }
  };
}

/** Returns a copy of a container, whose members are shared, or the value itself. */
function copied(value) {
  if (Array.isArray(value)) return [...value];
  return typeof value === "object" && value !== null ? { ...value } : value;
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

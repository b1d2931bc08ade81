// Loading of a module, and exceptions from it.
import { SettingsError, StateError } from "./errors.js";

export class Loader {
  #native;
  #isLoaded = false;
  #isSeeded = false;

  constructor(native) {
    this.#native = native;
  }

  /** Loads the module from its bytes, or compiled. Later calls do nothing. */
  loadNow(module) {
    if (this.#isLoaded) return;
    this.#native.initSync({ module });
    this.#isLoaded = true;
  }

  /** Loads the module from an address, the response of `fetch`, its bytes, or compiled. */
  async load(source) {
    if (this.#isLoaded) return;
    await this.#native.default({ module_or_path: source });
    this.#isLoaded = true;
  }

  /** Loads the module from `text`, the compressed bytes in base 64. */
  async unpack(text) {
    if (this.#isLoaded) return;
    const packed = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const bytes = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    await this.load(await new Response(bytes).arrayBuffer());
  }

  /** Seeds the ids of calls, because the module itself has no random numbers. */
  #seed() {
    try {
      const [seed] = crypto.getRandomValues(new BigUint64Array(1));
      this.#native.seedIds(seed);
      this.#isSeeded = true;
    } catch {
      // Workers have no random numbers before their first request. The next call tries again.
    }
  }

  /** Returns what `make` returns. The module throws texts, which become errors. */
  made(make) {
    if (!this.#isLoaded) {
      throw new StateError("the module is not loaded: `await init()` first", "not_loaded");
    }
    if (!this.#isSeeded) this.#seed();
    try {
      return make();
    } catch (error) {
      throw typeof error === "string" ? settingsError(error) : error;
    }
  }
}

/** Returns the error of a text like `[unknown_model] model: ..`. Most texts have no code. */
function settingsError(text) {
  const [, code, message] = /^(?:\[(\w+)\] )?(.*)$/s.exec(text);
  return new SettingsError(message, code);
}

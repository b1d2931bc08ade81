// Loading of a module, and exceptions from it.
import { SettingsError } from "./errors.js";

export class Loader {
  #native;
  #isLoaded = false;

  constructor(native) {
    this.#native = native;
  }

  /** Compiles the module from its bytes. Later calls do nothing. */
  loadNow(bytes) {
    if (this.#isLoaded) return;
    this.#native.initSync({ module: bytes });
    this.#start();
  }

  /** Compiles the module from the response of `fetch`, or from bytes. */
  async load(source) {
    if (this.#isLoaded) return;
    await this.#native.default({ module_or_path: source });
    this.#start();
  }

  /** Seeds the ids of calls: the module itself has no random numbers. */
  #start() {
    const [seed] = crypto.getRandomValues(new BigUint64Array(1));
    this.#native.seedIds(seed);
    this.#isLoaded = true;
  }

  /** Returns what `make` returns. The module throws texts, which become errors. */
  made(make) {
    if (!this.#isLoaded) throw new Error("the module is not loaded: `await init()` first");
    try {
      return make();
    } catch (error) {
      throw typeof error === "string" ? new SettingsError(error) : error;
    }
  }
}

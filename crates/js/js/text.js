// Passes texts and bytes to a module.

/** Returns the settings as JSON text. */
export function textOf(settings) {
  return JSON.stringify(settings ?? {});
}

/** Returns the bytes of a chunk. */
export function bytesOf(chunk) {
  if (chunk instanceof Uint8Array) return chunk;
  if (chunk instanceof ArrayBuffer) return new Uint8Array(chunk);
  throw new TypeError("expected a string, a Uint8Array or an ArrayBuffer");
}

/** Joins surrogate pairs that were cut between two pieces of a string. */
export class Halves {
  #half = "";

  whole(chunk) {
    const text = this.#half + chunk;
    const last = text.charCodeAt(text.length - 1);
    const cut = last >= 0xd800 && last < 0xdc00;
    this.#half = cut ? text.slice(-1) : "";
    return cut ? text.slice(0, -1) : text;
  }

  rest() {
    const half = this.#half;
    this.#half = "";
    return half && "\ufffd";
  }
}

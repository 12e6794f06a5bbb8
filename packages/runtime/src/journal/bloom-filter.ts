/** A scalable Bloom filter over strings. "Not in the set" is certain; "in the set" is wrong for few strings. */

const bitsPerText = 16;
const probes = 4;
const firstTexts = 64;

/** Hashes a string with FNV-1a over its UTF-16 units. */
const hashOf = (text: string): number => {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
};

/** Returns the distance between probes. An odd number visits different bits. */
const strideOf = (hash: number): number => Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d) | 1;

/** A Bloom filter of fixed size, a power of two. */
class Layer {
  readonly texts: number;
  readonly #words: Uint32Array;
  readonly #mask: number;
  count = 0;

  constructor(texts: number) {
    this.texts = texts;
    this.#words = new Uint32Array((texts * bitsPerText) / 32);
    this.#mask = texts * bitsPerText - 1;
  }

  add(hash: number): void {
    this.count += 1;
    const stride = strideOf(hash);
    for (let i = 0, at = hash; i < probes; i++, at += stride) {
      const bit = at & this.#mask;
      this.#words[bit >>> 5] = (this.#words[bit >>> 5] as number) | (1 << (bit & 31));
    }
  }

  mayContain(hash: number): boolean {
    const stride = strideOf(hash);
    for (let i = 0, at = hash; i < probes; i++, at += stride) {
      const bit = at & this.#mask;
      if (((this.#words[bit >>> 5] as number) & (1 << (bit & 31))) === 0) return false;
    }
    return true;
  }
}

/** A scalable Bloom filter: it grows with what is added, and stays as rarely wrong. */
export class BloomFilter {
  /** Each layer is four times as large as the one before. */
  readonly #layers: Layer[] = [];

  add(text: string): void {
    let last = this.#layers.at(-1);
    if (last === undefined || last.count === last.texts) {
      last = new Layer(last === undefined ? firstTexts : 4 * last.texts);
      this.#layers.push(last);
    }
    last.add(hashOf(text));
  }

  mayContain(text: string): boolean {
    const hash = hashOf(text);
    return this.#layers.some((layer) => layer.mayContain(hash));
  }
}

/** Chance from a seed: the same numbers on every platform. */
export class Chance {
  #state: number;

  constructor(seed: number) {
    this.#state = seed | 0;
  }

  /** A whole number of 32 bits; the mixing is that of murmur3's end. */
  #next(): number {
    this.#state = (this.#state + 0x9e3779b9) | 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
    mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
    return (mixed ^ (mixed >>> 16)) >>> 0;
  }

  below(count: number): number {
    return this.#next() % count;
  }

  /** True so many times out of a thousand. */
  perMille(times: number): boolean {
    return this.below(1000) < times;
  }
}

/** A seeded random number generator with the same numbers on every platform. */
export class SeededRandom {
  #state: number;

  constructor(seed: number) {
    this.#state = seed | 0;
  }

  /** Returns 32 random bits, mixed with murmur3's finalizer. */
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

  /** Returns true with a probability of `times` in a thousand. */
  perMille(times: number): boolean {
    return this.below(1000) < times;
  }
}

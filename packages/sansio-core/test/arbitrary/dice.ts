/** Chance from a seed: the same on every machine. */
export class Dice {
  #state: number;

  constructor(seed: number) {
    this.#state = seed | 0;
  }

  /** A whole number from 0 up to, and without, `n`. */
  below(n: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let t = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 4_294_967_296) * n);
  }

  pick<A>(items: readonly A[]): A {
    return items[this.below(items.length)] as A;
  }

  maybe<A>(percent: number, make: () => A): A | undefined {
    return this.isUnder(percent) ? make() : undefined;
  }

  isUnder(percent: number): boolean {
    return this.below(100) < percent;
  }

  list<A>(most: number, make: (index: number) => A): readonly A[] {
    return Array.from({ length: this.below(most + 1) }, (_, i) => make(i));
  }
}

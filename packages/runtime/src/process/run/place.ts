/**
 * The places for background runs on this worker: so many run at once. A run has one place, held by the scopes that have
 * a part in it, the session that asked for it and the process that it is; it is free when neither holds it any more.
 */

interface Queued {
  readonly run: string;
  readonly holder: string;
  readonly enter: (hasPlace: boolean) => void;
}

/** Counts the places that a worker has for background runs. */
export class Places {
  readonly limit: number;
  readonly #held = new Map<string, Set<string>>();
  /** How many places each scope holds; who holds none is not in it. */
  readonly #counts = new Map<string, number>();
  #queue: Queued[] = [];

  constructor(limit: number) {
    this.limit = limit;
  }

  get active(): number {
    return this.#held.size;
  }

  heldBy(holder: string): number {
    return this.#counts.get(holder) ?? 0;
  }

  /** The scopes that hold any. */
  holders(): readonly string[] {
    return [...this.#counts.keys()];
  }

  /** Takes the place of a run, or joins those who hold it; false where there is none. */
  take(run: string, holder: string): boolean {
    const holders = this.#held.get(run);
    if (holders === undefined && this.#held.size >= this.limit) return false;
    if (holders?.has(holder)) return true;
    if (holders === undefined) this.#held.set(run, new Set([holder]));
    else holders.add(holder);
    this.#counts.set(holder, this.heldBy(holder) + 1);
    return true;
  }

  /** Waits for a place; false where the holder went away before there was one. */
  queue(run: string, holder: string): Promise<boolean> {
    return new Promise((enter) => void this.#queue.push({ run, holder, enter }));
  }

  release(run: string, holder: string): void {
    const holders = this.#held.get(run);
    if (!holders?.delete(holder)) return;
    const left = this.heldBy(holder) - 1;
    if (left > 0) this.#counts.set(holder, left);
    else this.#counts.delete(holder);
    if (holders.size === 0) this.#held.delete(run);
    this.#admit();
  }

  /** A scope is another worker's, or over. */
  forget(holder: string): void {
    const gone = this.#queue.filter((queued) => queued.holder === holder);
    this.#queue = this.#queue.filter((queued) => queued.holder !== holder);
    for (const { enter } of gone) enter(false);
    for (const run of this.#held.keys()) this.release(run, holder);
  }

  #admit(): void {
    for (let [first] = this.#queue; first !== undefined && this.take(first.run, first.holder); [first] = this.#queue) {
      this.#queue.shift();
      first.enter(true);
    }
  }
}

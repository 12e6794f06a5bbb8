/** Events of a scope as an async iterable: it goes on from the last one over every reconnection. */
import type { Event } from "@pawl/sansio-core";
import type { HostRefused } from "./error.ts";

export interface Observed {
  /** Where to go on from. */
  readonly cursor: number;
  readonly at: number;
  readonly event: Event;
}

/** Events that wait for whoever reads, and whoever reads that waits for events. */
export class Observation implements AsyncIterableIterator<Observed> {
  readonly #seen: (cursor: number) => void;
  readonly #left: () => void;
  readonly #half: number;
  #queue: Observed[] = [];
  #waiting: { readonly resolve: (next: IteratorResult<Observed>) => void; readonly reject: (e: Error) => void }[] = [];
  #cursor: number;
  #unsaid = 0;
  #isOver = false;
  #error: HostRefused | undefined;

  constructor(after: number, window: number, seen: (cursor: number) => void, left: () => void) {
    this.#cursor = after;
    this.#half = Math.ceil(window / 2);
    this.#seen = seen;
    this.#left = left;
  }

  /** The last event that came. */
  get cursor(): number {
    return this.#cursor;
  }

  heard(observed: Observed): void {
    if (this.#isOver || observed.cursor <= this.#cursor) return;
    this.#cursor = observed.cursor;
    const waiting = this.#waiting.shift();
    if (waiting === undefined) this.#queue.push(observed);
    else waiting.resolve(this.#hand(observed));
  }

  /** The host is told of what was read every half a window. */
  #hand(observed: Observed): IteratorResult<Observed> {
    this.#unsaid += 1;
    if (this.#unsaid >= this.#half) {
      this.#unsaid = 0;
      this.#seen(observed.cursor);
    }
    return { done: false, value: observed };
  }

  end(error?: HostRefused): void {
    this.#isOver = true;
    this.#error = error;
    for (const { resolve, reject } of this.#waiting)
      if (error === undefined) resolve({ done: true, value: undefined });
      else reject(error);
    this.#waiting = [];
  }

  async next(): Promise<IteratorResult<Observed>> {
    const observed = this.#queue.shift();
    if (observed !== undefined) return this.#hand(observed);
    if (this.#error !== undefined) throw this.#error;
    if (this.#isOver) return { done: true, value: undefined };
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }));
  }

  async return(): Promise<IteratorResult<Observed>> {
    this.#queue = [];
    this.end();
    this.#left();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}

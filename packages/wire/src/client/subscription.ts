/** What a host tells without being asked again, as an async iterable: it goes on over every reconnection. */
import type { HostFrame } from "../frame/host-frame.ts";
import type { Subscribing } from "./pending-questions.ts";
import type { HostRefused } from "./error.ts";

/** How it speaks to the host. */
export interface InflowPort {
  /** So far it was read. */
  readonly seen: (cursor: number) => void;
  /** Nobody reads any more. */
  readonly left: () => void;
}

/** One of them, whatever it brings. */
export interface Flowing {
  /** Asks for it, from where it has got. */
  readonly question: (id: number) => Subscribing;
  /** Has it asked for on another connection: at once, or when what has come already is read but for half a window. */
  readonly whenRead: (ask: () => void) => void;
  readonly heard: (frame: HostFrame) => void;
  readonly end: (error?: HostRefused) => void;
}

/** What came, and the number under which the host is told that it was read. */
interface Come<A> {
  readonly item: A;
  readonly cursor: number;
}

interface Reader<A> {
  readonly resolve: (next: IteratorResult<A>) => void;
  readonly reject: (error: Error) => void;
}

/** Items that wait for whoever reads, and whoever reads that waits for items. */
export abstract class Inflow<A> implements AsyncIterableIterator<A>, Flowing {
  readonly #port: InflowPort;
  readonly #half: number;
  #queue: Come<A>[] = [];
  #waiting: Reader<A>[] = [];
  #unsaid = 0;
  /** What is done when most of what has come is read. */
  #ask: (() => void) | undefined;
  #isOver = false;
  #error: HostRefused | undefined;

  constructor(window: number, port: InflowPort) {
    this.#half = Math.ceil(window / 2);
    this.#port = port;
  }

  abstract question(id: number): Subscribing;
  abstract heard(frame: HostFrame): void;

  protected come(item: A, cursor: number): void {
    if (this.#isOver) return;
    const reader = this.#waiting.shift();
    if (reader === undefined) this.#queue.push({ item, cursor });
    else reader.resolve(this.#hand({ item, cursor }));
  }

  whenRead(ask: () => void): void {
    this.#ask = ask;
    this.#askOnceRead();
  }

  /** Another connection counts anew. */
  #askOnceRead(): void {
    if (this.#ask === undefined || this.#queue.length >= this.#half) return;
    const ask = this.#ask;
    this.#ask = undefined;
    this.#unsaid = 0;
    ask();
  }

  /** The host is told of what was read every half a window. */
  #hand({ item, cursor }: Come<A>): IteratorResult<A> {
    this.#unsaid += 1;
    if (this.#unsaid >= this.#half) {
      this.#unsaid = 0;
      this.#port.seen(cursor);
    }
    return { done: false, value: item };
  }

  end(error?: HostRefused): void {
    this.#isOver = true;
    this.#error = error;
    this.#ask = undefined;
    for (const { resolve, reject } of this.#waiting)
      if (error === undefined) resolve({ done: true, value: undefined });
      else reject(error);
    this.#waiting = [];
  }

  async next(): Promise<IteratorResult<A>> {
    const come = this.#queue.shift();
    if (come !== undefined) {
      const next = this.#hand(come);
      this.#askOnceRead();
      return next;
    }
    if (this.#error !== undefined) throw this.#error;
    if (this.#isOver) return { done: true, value: undefined };
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }));
  }

  async return(): Promise<IteratorResult<A>> {
    this.#queue = [];
    this.end();
    this.#port.left();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}

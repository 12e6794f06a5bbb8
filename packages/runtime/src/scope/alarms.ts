/** All deadlines of a runtime in one heap, and one timer of the platform's for the earliest of them. */
import type { Platform } from "../platform.ts";

interface Alarm {
  readonly at: number;
  readonly ring: () => void;
  /** Its place in the heap; -1 when it is not there. */
  index: number;
}

export class Alarms {
  readonly #platform: Platform;
  /** Each is no later than those at 2i + 1 and 2i + 2. */
  readonly #heap: Alarm[] = [];
  #timer: { readonly at: number; readonly callOff: () => void } | undefined;

  constructor(platform: Platform) {
    this.#platform = platform;
  }

  get size(): number {
    return this.#heap.length;
  }

  /** The platform, its timers being this heap. */
  get platform(): Platform {
    const platform = this.#platform;
    return {
      now: () => platform.now(),
      monotonic: () => platform.monotonic(),
      nextTurn: (then) => platform.nextTurn(then),
      hashText: (text) => platform.hashText(text),
      later: (ms, then) => this.later(ms, then),
    };
  }

  /** Calls back after so many milliseconds, unless it is called off. NaN is none: it has no place among the others. */
  later(ms: number, ring: () => void): () => void {
    const alarm = { at: this.#platform.monotonic() + (ms || 0), ring, index: this.#heap.length };
    this.#heap.push(alarm);
    this.#rise(alarm);
    this.#setTimer();
    return () => this.#remove(alarm);
  }

  /** Calls all of them off, and whatever is still to come: what was under way may ask for one when it is over. */
  stop(): void {
    for (const alarm of this.#heap) alarm.index = -1;
    this.#heap.length = 0;
    this.#setTimer();
    this.#setTimer = () => undefined;
  }

  #put(alarm: Alarm, index: number): void {
    this.#heap[index] = alarm;
    alarm.index = index;
  }

  #rise(alarm: Alarm): void {
    while (alarm.index > 0) {
      const parent = this.#heap[(alarm.index - 1) >> 1] as Alarm;
      if (parent.at <= alarm.at) return;
      const { index } = alarm;
      this.#put(alarm, parent.index);
      this.#put(parent, index);
    }
  }

  #sink(alarm: Alarm): void {
    for (;;) {
      const left = this.#heap[alarm.index * 2 + 1];
      const right = this.#heap[alarm.index * 2 + 2];
      const least = right !== undefined && left !== undefined && right.at < left.at ? right : left;
      if (least === undefined || alarm.at <= least.at) return;
      const { index } = alarm;
      this.#put(alarm, least.index);
      this.#put(least, index);
    }
  }

  #remove(alarm: Alarm): void {
    if (alarm.index === -1) return;
    const last = this.#heap.pop() as Alarm;
    if (last !== alarm) {
      this.#put(last, alarm.index);
      this.#rise(last);
      this.#sink(last);
    }
    alarm.index = -1;
    if (this.#heap.length === 0) this.#setTimer();
  }

  /** A timer that is too early rings for nothing; it costs less than to set it anew with each deadline that moves. */
  #setTimer = (): void => {
    const [next] = this.#heap;
    if (this.#timer !== undefined && next !== undefined && this.#timer.at <= next.at) return;
    this.#timer?.callOff();
    this.#timer = undefined;
    if (next === undefined) return;
    const ms = Math.max(0, next.at - this.#platform.monotonic());
    this.#timer = { at: next.at, callOff: this.#platform.later(ms, () => this.#ring()) };
  };

  #ring(): void {
    this.#timer = undefined;
    const now = this.#platform.monotonic();
    try {
      for (let [next] = this.#heap; next !== undefined && next.at <= now; [next] = this.#heap) {
        this.#remove(next);
        next.ring();
      }
    } finally {
      this.#setTimer(); // Others ring, whatever one throws.
    }
  }
}

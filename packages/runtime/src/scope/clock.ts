/**
 * Time: the clock that the events of a scope are stamped with, the alarm for its next deadline, and the heap of all alarms
 * of a runtime behind one timer of the platform.
 */
import type { Platform } from "../platform.ts";

/** Scope time: goes on between events, and never back. */
export class ScopeClock {
  readonly #platform: Platform;
  /** Readings of the monotonic clock: at the last event, and the newest. */
  #elapsedFrom: number;
  #read: number;

  constructor(platform: Platform) {
    this.#platform = platform;
    this.#elapsedFrom = this.#read = platform.monotonic();
  }

  /** Returns the time now, never before `last`, the time of the last event. */
  after(last: number): number {
    this.#read = this.#platform.monotonic();
    return Math.max(Math.floor(this.#platform.now()), last + Math.floor(this.#read - this.#elapsedFrom));
  }

  /** Takes note that an event was stepped, stamped with the newest reading. */
  stepped(): void {
    this.#elapsedFrom = this.#read;
  }
}

/** Rings at the next deadline of a scope. A deadline that moves replaces the one before it. */
export class DeadlineAlarm {
  readonly #platform: Platform;
  readonly #ring: () => void;
  #due: number | undefined;
  #callOff: (() => void) | undefined;

  constructor(platform: Platform, ring: () => void) {
    this.#platform = platform;
    this.#ring = ring;
  }

  /** Sets the alarm for this deadline, which is so many milliseconds away; without a deadline it is called off. */
  set(due: number | undefined, ms: number): void {
    if (due === this.#due) return;
    this.stop();
    this.#due = due;
    if (due === undefined) return;
    this.#callOff = this.#platform.later(ms, () => {
      this.#due = undefined;
      this.#callOff = undefined;
      this.#ring();
    });
  }

  stop(): void {
    this.#callOff?.();
    this.#callOff = undefined;
  }
}

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

  /** Returns the platform with this heap in place of its timers. */
  get platform(): Platform {
    const platform = this.#platform;
    return {
      now: () => platform.now(),
      monotonic: () => platform.monotonic(),
      nextTurn: (then) => platform.nextTurn(then),
      hashText: (text) => platform.hashText(text),
      contexts: platform.contexts,
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

  /**
   * Sets the timer for the earliest alarm. One that is too early is kept: to ring for nothing costs less than to set it
   * anew.
   */
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

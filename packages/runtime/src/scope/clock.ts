/** Time of one scope: the clock that its events are stamped with, and the alarm for its next deadline. */
import type { Platform } from "../platform.ts";

/** Scope time: goes on between events, and never back. */
export class ScopeClock {
  readonly #platform: Platform;
  /** The monotonic clock at the last event, and where it was read last. */
  #elapsedFrom: number;
  #read: number;

  constructor(platform: Platform) {
    this.#platform = platform;
    this.#elapsedFrom = this.#read = platform.monotonic();
  }

  /** The time now, where `last` was that of the last event. */
  after(last: number): number {
    this.#read = this.#platform.monotonic();
    return Math.max(Math.floor(this.#platform.now()), last + Math.floor(this.#read - this.#elapsedFrom));
  }

  /** An event was stepped, of the time that was read last. */
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

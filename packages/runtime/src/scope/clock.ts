/** Scope time: it goes on between events, and never back. */
import type { Platform } from "../platform.ts";

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

/** Says when nothing has happened for a while. What happens costs a number; only being idle costs a timer. */
import type { Platform } from "./platform.ts";

export class IdleWatch {
  readonly #platform: Platform;
  /** How long is a while, as things stand. */
  readonly #ms: () => number;
  readonly #onIdle: () => void;
  #since = 0;
  #callOff: (() => void) | undefined;

  constructor(platform: Platform, ms: () => number, onIdle: () => void) {
    this.#platform = platform;
    this.#ms = ms;
    this.#onIdle = onIdle;
  }

  /** Something has happened. */
  touch(): void {
    this.#since = this.#platform.monotonic();
    if (this.#callOff === undefined) this.#waitFor(this.#ms());
  }

  stop(): void {
    this.#callOff?.();
    this.#callOff = undefined;
  }

  #waitFor(ms: number): void {
    this.#callOff = this.#platform.later(ms, () => {
      this.#callOff = undefined;
      const rest = this.#ms() - (this.#platform.monotonic() - this.#since);
      if (rest > 0) this.#waitFor(rest);
      else this.#onIdle();
    });
  }
}

/** Says when nothing has happened for a while. What happens costs a number; only being idle costs a timer. */
import type { Platform } from "../platform.ts";

/** How long a body may be quiet. */
export interface Patience {
  /** Before it is dropped, if it only waits. */
  readonly suspendMs: number;
  /** In a re-run, while an answer of its log is held for a request that it does not make. */
  readonly holdMs: number;
}
/** Suspends a body that only waits after 2 s, and stops a re-run that does not ask for its record after 30 s. */
export const defaultPatience: Patience = { suspendMs: 2000, holdMs: 30_000 };

export class IdleWatch {
  readonly #platform: Platform;
  /** How long is a while, as things stand. */
  readonly #ms: () => number;
  readonly #onIdle: () => void;
  #since = 0;
  #ringsAt = 0;
  #callOff: (() => void) | undefined;

  constructor(platform: Platform, ms: () => number, onIdle: () => void) {
    this.#platform = platform;
    this.#ms = ms;
    this.#onIdle = onIdle;
  }

  /** Something has happened. The timer that runs is kept, unless it would ring too late. */
  touch(): void {
    this.#since = this.#platform.monotonic();
    const ms = this.#ms();
    if (this.#callOff !== undefined && this.#ringsAt <= this.#since + ms) return;
    this.stop();
    this.#waitFor(ms);
  }

  stop(): void {
    this.#callOff?.();
    this.#callOff = undefined;
  }

  #waitFor(ms: number): void {
    this.#ringsAt = this.#platform.monotonic() + ms;
    this.#callOff = this.#platform.later(ms, () => {
      this.#callOff = undefined;
      const rest = this.#ms() - (this.#platform.monotonic() - this.#since);
      if (rest > 0) this.#waitFor(rest);
      else this.#onIdle();
    });
  }
}

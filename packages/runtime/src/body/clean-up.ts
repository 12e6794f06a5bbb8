/** What a body does when its call is cancelled. The call's end waits for it, for as long as it said. */
import type { Platform } from "../platform.ts";

export interface CleanUpPort {
  readonly platform: Platform;
  /** All that was asked for is done, and nobody waits to hear it. */
  readonly done: () => void;
}

export class CleanUps {
  readonly #port: CleanUpPort;
  #asked = 0;
  #done = 0;
  #heard: (() => void) | undefined;

  constructor(port: CleanUpPort) {
    this.#port = port;
  }

  /** One more is to be run when the call is cancelled. */
  ask(): void {
    this.#asked += 1;
  }

  /** Runs one, which does not throw, until it has ended or its time has passed. */
  async run(work: () => Promise<void>, ms: number): Promise<void> {
    let callOff: (() => void) | undefined;
    const passed = new Promise<void>((resolve) => (callOff = this.#port.platform.later(ms, resolve)));
    await Promise.race([work(), passed]);
    callOff?.();
    this.#done += 1;
    if (this.#done < this.#asked) return;
    if (this.#heard === undefined) this.#port.done();
    else this.#heard();
  }

  /** Resolves when all are done, or the body is over. */
  over(): Promise<void> {
    if (this.#done === this.#asked) return Promise.resolve();
    return new Promise((resolve) => (this.#heard = resolve));
  }

  end(): void {
    this.#heard?.();
  }
}

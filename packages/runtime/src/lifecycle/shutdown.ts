/** The shutdown of a runtime: once closed, it admits nothing new. */
import { Refused } from "../error.ts";

export class Shutdown {
  #isClosed = false;

  /** Returns the refusal of new work after `close`. */
  get refusal(): Refused | undefined {
    return this.#isClosed ? new Refused("closing", "this runtime is closed, or about to be") : undefined;
  }

  /** Throws after `close`. */
  pass(): void {
    const { refusal } = this;
    if (refusal !== undefined) throw refusal;
  }

  close(): void {
    this.#isClosed = true;
  }
}

/** Whether a runtime still takes anything on. */
import { Refused } from "../error.ts";

export class Shutdown {
  #isClosed = false;

  /** Why nothing is taken on any more, if so. */
  get refusal(): Refused | undefined {
    return this.#isClosed ? new Refused("closing", "this runtime is closed, or about to be") : undefined;
  }

  /** Throws where nothing is taken on any more. */
  pass(): void {
    const { refusal } = this;
    if (refusal !== undefined) throw refusal;
  }

  close(): void {
    this.#isClosed = true;
  }
}

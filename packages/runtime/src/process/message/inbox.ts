/** The letters of one scope: taken in the order in which they came, by appends that do away with them. */
import type { Journal, InboxMessage } from "../../journal/journal.ts";

export interface InboxPort {
  /** Takes a letter, and says whether it is done with. */
  readonly take: (letter: InboxMessage) => Promise<boolean>;
  /** What lies there. */
  readonly messages: () => ReturnType<Journal["inbox"]>;
  /** Resolves when all that was taken is durable, so that it lies there no more; rejects when the scope was lost. */
  readonly whenDurable: () => Promise<void>;
}

export class Inbox {
  readonly #port: InboxPort;
  #looking: Promise<boolean> | undefined;
  #isAsked = false;

  constructor(port: InboxPort) {
    this.#port = port;
  }

  /** Takes what lies there, and what comes meanwhile; says whether nothing was left lying. */
  look(): Promise<boolean> {
    this.#isAsked = true;
    this.#looking ??= this.#take();
    return this.#looking;
  }

  async #take(): Promise<boolean> {
    let left = 0;
    try {
      while (this.#isAsked) {
        this.#isAsked = false;
        left = 0;
        for (const letter of await this.#port.messages()) if (!(await this.#port.take(letter))) left += 1;
        await this.#port.whenDurable();
      }
      return left === 0;
    } finally {
      this.#looking = undefined; // At once: who asks from now on has it looked at anew.
    }
  }
}

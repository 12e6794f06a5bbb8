/** One client's view of a scope's log, from a cursor on: never further ahead of it than its window. */
import type { Session } from "@pawl/runtime";
import type { Recorded } from "@pawl/sansio-core";
import type { Outgoing } from "./outgoing.ts";

export class Subscription {
  readonly #id: number;
  readonly #window: number;
  readonly #outgoing: Outgoing;
  /** Cursors that were sent and not seen yet, oldest first. */
  #unseen: number[] = [];
  readonly #over = new AbortController();
  #wake: (() => void) | undefined;

  constructor(id: number, window: number, outgoing: Outgoing) {
    this.#id = id;
    this.#window = Math.max(1, window);
    this.#outgoing = outgoing;
  }

  seen(cursor: number): void {
    this.#unseen = this.#unseen.filter((sent) => sent > cursor);
    this.#wake?.();
  }

  end(): void {
    this.#over.abort();
    this.#wake?.();
  }

  /** Resolves when the client has room for one more, or wants none. */
  async #room(): Promise<void> {
    while (!this.#over.signal.aborted && this.#unseen.length >= this.#window) {
      await new Promise<void>((wake) => {
        this.#wake = wake;
      });
    }
    await this.#outgoing.ready();
  }

  /** Sends what follows on a cursor, until it is ended. */
  async follow(session: Session, after: number): Promise<void> {
    for await (const recorded of session.follow(after, this.#over.signal)) {
      await this.#room();
      if (this.#over.signal.aborted) return;
      this.#send(recorded);
    }
  }

  #send({ seq, at, event }: Recorded): void {
    this.#unseen.push(seq);
    this.#outgoing.send({ type: "observed", id: this.#id, cursor: seq, at, event });
  }
}

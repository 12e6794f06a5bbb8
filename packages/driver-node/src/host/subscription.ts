/**
 * What one client is told of a scope without asking again: its log from a cursor on, or what observers see. Never
 * further ahead of the client than its window.
 */
import { type Cursor, type Session, endOf } from "@pawl/runtime";
import type { HostFrame } from "@pawl/wire/frame";
import type { Outgoing } from "./socket.ts";

export class Subscription {
  readonly #id: number;
  readonly #window: number;
  readonly #outgoing: Outgoing;
  /** What was sent, oldest first, and how many of that were seen. */
  #sent: number[] = [];
  #seen = 0;
  readonly #over = new AbortController();
  #wake: (() => void) | undefined;

  constructor(id: number, window: number, outgoing: Outgoing) {
    this.#id = id;
    this.#window = Math.max(1, window);
    this.#outgoing = outgoing;
  }

  seen(cursor: number): void {
    while ((this.#sent[this.#seen] ?? Infinity) <= cursor) this.#seen += 1;
    if (this.#seen > this.#sent.length / 2) {
      this.#sent = this.#sent.slice(this.#seen);
      this.#seen = 0;
    }
    this.#wake?.();
  }

  end(): void {
    this.#over.abort();
    this.#wake?.();
  }

  /** Sends one more when the client has room for it; says whether it still wants any. */
  async #send(cursor: number, frame: HostFrame): Promise<boolean> {
    while (!this.#over.signal.aborted && this.#sent.length - this.#seen >= this.#window) {
      await new Promise<void>((wake) => {
        this.#wake = wake;
      });
    }
    await this.#outgoing.ready();
    if (this.#over.signal.aborted) return false;
    this.#sent.push(cursor);
    this.#outgoing.send(frame);
    return true;
  }

  /** The events that follow on a cursor, until it is ended. */
  async follow(session: Session, after: number): Promise<void> {
    for await (const { seq, at, event } of session.follow(after, this.#over.signal)) {
      if (!(await this.#send(seq, { type: "observed", id: this.#id, cursor: seq, at, event }))) return;
    }
  }

  /**
   * What happens, until it is ended. A client that reads too slowly misses what its session's buffer for it can not
   * hold, and is told of the gap; so is one that comes back with a cursor that the log does not reach.
   */
  async watch(session: Session, from: Cursor | undefined): Promise<void> {
    if (this.#over.signal.aborted) return; // While the scope was opened.
    const id = this.#id;
    const { seq } = session.state;
    const frames = session.observe(from === undefined ? {} : { from });
    const leave = (): void => void frames.return();
    this.#over.signal.addEventListener("abort", leave, { once: true });
    await session.runner.settled();
    this.#outgoing.send({ type: "watching", id, cursor: from ?? endOf(session.runner.id, seq) });
    let n = 0;
    for await (const frame of frames) {
      n += 1;
      if (!(await this.#send(n, { type: "watched", id, n, frame }))) return;
    }
  }
}

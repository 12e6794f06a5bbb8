/**
 * A subscription of one client: a scope's log from a cursor on, or its observations. At most `window` frames are sent
 * ahead of what the client has acknowledged (flow control).
 */
import type { Cursor, Session } from "@pawl/runtime";
import { endOf } from "@pawl/runtime/driver";
import type { HostFrame } from "@pawl/wire/frame";
import type { Outgoing } from "./socket.ts";

export class Subscription {
  readonly #id: number;
  readonly #window: number;
  readonly #outgoing: Outgoing;
  /** Cursors that were sent, oldest first, and how many of them the client has seen. */
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

  /** Sends a frame as soon as the window allows it. Returns false once the subscription has ended. */
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

  /** Sends the log's events after a cursor. */
  async follow(session: Session, after: number): Promise<void> {
    for await (const { seq, at, event } of session.follow(after, this.#over.signal)) {
      if (!(await this.#send(seq, { type: "observed", id: this.#id, cursor: seq, at, event }))) return;
    }
  }

  /**
   * Sends observations. A client that is too slow misses those beyond the session's buffer and is told of the gap, as
   * is one whose cursor is older than the log.
   */
  async watch(session: Session, from: Cursor | undefined): Promise<void> {
    if (this.#over.signal.aborted) return; // The subscription ended while the scope was opened.
    const id = this.#id;
    const { seq } = session.state;
    const frames = session.observe(from === undefined ? {} : { from });
    const leave = (): void => void frames.return();
    this.#over.signal.addEventListener("abort", leave, { once: true });
    await session.runner.whenDurable();
    this.#outgoing.send({ type: "watching", id, cursor: from ?? endOf(session.runner.id, seq) });
    let n = 0;
    for await (const frame of frames) {
      n += 1;
      if (!(await this.#send(n, { type: "watched", id, n, frame }))) return;
    }
  }
}

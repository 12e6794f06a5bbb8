/**
 * A subscription of one client: a scope's log from a cursor on, or its observations. At most `window` frames are sent
 * ahead of what the client has acknowledged (flow control).
 */
import type { Cursor, Session } from "@pawl/runtime";
import { endOf } from "@pawl/runtime/driver";
import { EventCodec } from "@pawl/sansio-core";
import type { Json } from "@pawl/tool-value";
import type { ClientFrame, HostFrame } from "../frame/index.ts";
import type { Outgoing } from "./outgoing.ts";

type TurnQuestion = Extract<ClientFrame, { readonly type: "read_turn" }>;
type StreamQuestion = Extract<ClientFrame, { readonly type: "stream" }>;

/** The characters that a subscription sends in one turn. */
const turnChars = 128 * 1024;

export class Subscription {
  readonly #id: number;
  readonly #window: number;
  readonly #outgoing: Outgoing;
  /** Cursors that were sent, oldest first, and how many of them the client has seen. */
  #sent: number[] = [];
  #seen = 0;
  /** The characters that may be sent before others have their turn. */
  #allowance = 0;
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

  /** Waits until the window and the connection have room. Resolves to false once the subscription has ended. */
  async #admit(): Promise<boolean> {
    while (!this.#over.signal.aborted && this.#sent.length - this.#seen >= this.#window) {
      await new Promise<void>((wake) => {
        this.#wake = wake;
      });
    }
    if (this.#over.signal.aborted) return false;
    if (this.#allowance > 0 && this.#outgoing.mayTakeMore) return true;
    await this.#outgoing.turn();
    this.#allowance = turnChars;
    return !this.#over.signal.aborted;
  }

  /** Sends what there is, and reads on only when there is room for more. */
  async #sendAll<A>(all: AsyncIterator<A>, frameOf: (one: A) => readonly [cursor: number, HostFrame]): Promise<void> {
    try {
      while (await this.#admit()) {
        const { done = false, value } = await all.next();
        if (done || !(await this.#admit())) return; // What is new was waited for: there may be no room by now.
        const [cursor, frame] = frameOf(value as A);
        this.#sent.push(cursor);
        this.#allowance -= this.#outgoing.send(frame);
      }
    } finally {
      await all.return?.();
    }
  }

  /** Sends the log's events after a cursor. */
  async follow(session: Session, after: number): Promise<void> {
    const id = this.#id;
    await this.#sendAll(session.follow(after, this.#over.signal), ({ seq, at, event }) => [
      seq,
      { type: "observed", id, cursor: seq, at, event: EventCodec.encode(event) as Json },
    ]);
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
    await this.#sendAll(frames, (frame) => {
      n += 1;
      return [n, { type: "watched", id, n, frame }];
    });
  }

  /** Sends a stream of a call, or the answers of a turn. */
  read(session: Session, frame: StreamQuestion | TurnQuestion): Promise<void> {
    return frame.type === "stream" ? this.#stream(session, frame) : this.#turn(session, frame);
  }

  /** Sends the answers of a turn, until it is over. A client that is slow is sent what it lacks as one. */
  async #turn(session: Session, { request, from }: TurnQuestion): Promise<void> {
    const id = this.#id;
    const place = { signal: this.#over.signal, ...(from === undefined ? {} : { from }) };
    let n = 0;
    await this.#sendAll(session.readTurn(request, place), (frame) => {
      n += 1;
      return [n, { type: "turn_read", id, n, frame }];
    });
  }

  /** Sends a stream of a call, until its end. A client that is slow is sent what is on record by then. */
  async #stream(session: Session, { call, name, from, attempt }: StreamQuestion): Promise<void> {
    const id = this.#id;
    const cursor = from === undefined || attempt === undefined ? from : { attempt, at: from };
    const place = { name, signal: this.#over.signal, ...(cursor === undefined ? {} : { from: cursor }) };
    let n = 0;
    await this.#sendAll(session.stream(call, place), (frame) => {
      n += 1;
      return [n, { type: "streamed", id, n, frame }];
    });
  }
}

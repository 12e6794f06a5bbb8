/**
 * Streams of calls in any tab. Only the tab that writes has what is said and not on record yet, so readers in all tabs ask it,
 * by the channel: one question, then frame by frame. A frame is sent when the one before it was taken, so a slow reader is
 * given the record later, and holds nobody up.
 *
 *    reader ── stream_asked { from } ──► writer ── session.stream ─┐
 *       ▲  ◄──────── stream_told { frame } ────────────────────────┤
 *       └── stream_taken ──► the next frame                        │
 *       └── a beat of another writer ──► asks that one, from its cursor
 *
 * Both may go at any moment. A reader holds a Web Lock: the browser passes it to the writer when the reader's tab closes or
 * crashes, and the writer leaves the stream. When the writer goes, the next one is asked from the reader's cursor, and tells by
 * a reset what the reader has to drop.
 *
 * This file imports no code: pages load it alone, when a stream is first read.
 */
import type { StreamCursor, StreamFrame, StreamOptions, cursorAfter } from "@pawl/runtime/driver";
import type { Channel } from "./broadcast.ts";
import type { StreamQuestion, TabMessage } from "./message.ts";

type Speech = Pick<Channel, "hear" | "announce">;
type Told = Extract<TabMessage, { readonly type: "stream_told" | "stream_refused" }>;

const lockOf = (reader: string): string => `pawl reader ${reader}`;

/** Takes a lock; resolves with the function that gives it back. */
const hold = (locks: LockManager, name: string): Promise<() => void> =>
  new Promise((held, failed) => {
    locks.request(name, () => new Promise<void>((leave) => held(leave))).catch(failed);
  });

/** What a reader needs of its tab. */
export interface ReaderPort {
  readonly channel: Speech;
  readonly locks: LockManager;
  readonly cursorAfter: typeof cursorAfter;
  readonly refused: (code: string, message: string) => Error;
}

const nowhere: StreamCursor = { attempt: 0, at: 0 };

class Reading {
  readonly #port: ReaderPort;
  readonly #of: Omit<StreamQuestion, "asking" | "writer" | "at" | "attempt">;
  readonly #isRecordedOnly: boolean;
  #cursor: StreamCursor;
  #asking = 0;
  #writer: string | undefined;
  #told: Told | undefined;
  #wake: (() => void) | undefined;

  constructor(port: ReaderPort, reader: string, of: StreamPlace, { name, from = nowhere }: StreamOptions) {
    this.#port = port;
    this.#of = { ...of, reader, name };
    this.#isRecordedOnly = typeof from === "number";
    this.#cursor = typeof from === "number" ? { attempt: 0, at: from } : from;
  }

  /** Asks the tab that writes, from where the reader is. */
  #ask(writer: string): void {
    this.#writer = writer;
    this.#asking += 1;
    this.#told = undefined;
    const { attempt, ...at } = this.#cursor;
    const from = this.#isRecordedOnly ? at : { ...at, attempt };
    this.#port.channel.announce({ type: "stream_asked", ...this.#of, asking: this.#asking, writer, ...from });
  }

  hear(message: TabMessage): void {
    if (message.type === "beat" && message.writer !== this.#writer) this.#ask(message.writer);
    else if (message.type === "stream_told" || message.type === "stream_refused") {
      if (message.reader !== this.#of.reader || message.asking !== this.#asking) return;
      this.#told = message;
      this.wake();
    }
  }

  wake(): void {
    this.#wake?.();
  }

  async *frames(isOver: () => boolean): AsyncGenerator<StreamFrame> {
    this.#port.channel.announce({ type: "asked" }); // Whoever writes says so by a beat, and is asked then.
    while (!isOver()) {
      const told = this.#told;
      if (told === undefined) {
        await new Promise<void>((wake) => (this.#wake = wake));
        continue;
      }
      if (told.type === "stream_refused") throw this.#port.refused(told.code, told.message);
      const { frame, reader, asking } = told;
      this.#told = undefined;
      this.#cursor = this.#port.cursorAfter(frame, this.#cursor);
      yield frame;
      if (frame.type === "end") return;
      if (asking === this.#asking) this.#port.channel.announce({ type: "stream_taken", reader, asking });
    }
  }
}

/** A call, in the scope that it is of. */
export interface StreamPlace {
  readonly scope: string;
  readonly call: string;
}

/** Reads a stream of a call in any tab, until its end or until the signal aborts. */
export async function* readStream(
  port: ReaderPort,
  of: StreamPlace,
  options: StreamOptions & { readonly signal: AbortSignal },
): AsyncGenerator<StreamFrame> {
  const { signal } = options;
  const reader = crypto.randomUUID();
  const leave = await hold(port.locks, lockOf(reader));
  const reading = new Reading(port, reader, of, options);
  const wake = (): void => reading.wake();
  const deaf = port.channel.hear((message) => reading.hear(message));
  signal.addEventListener("abort", wake);
  try {
    yield* reading.frames(() => signal.aborted);
  } finally {
    signal.removeEventListener("abort", wake);
    deaf();
    leave();
  }
}

/** Reads a stream of the runtime of this tab. */
export type OwnStream = (question: StreamQuestion, signal: AbortSignal) => AsyncIterable<StreamFrame>;

interface Served {
  readonly asking: number;
  readonly leave: AbortController;
  taken: () => void;
}

export interface StreamServerPort {
  readonly channel: Speech;
  readonly locks: LockManager;
  /** Names this tab. */
  readonly writer: string;
  readonly isWriting: () => boolean;
  readonly read: OwnStream;
}

/** Answers readers of all tabs, while this tab writes. */
export class StreamServer {
  readonly #port: StreamServerPort;
  readonly #served = new Map<string, Served>();

  constructor(port: StreamServerPort) {
    this.#port = port;
  }

  /** Takes a message of a reader. */
  take(message: TabMessage): void {
    if (message.type === "stream_asked") this.#asked(message);
    if (message.type !== "stream_taken") return;
    const served = this.#served.get(message.reader);
    if (served?.asking === message.asking) served.taken();
  }

  #asked(question: StreamQuestion): void {
    const { reader, asking } = question;
    this.#served.get(reader)?.leave.abort();
    if (question.writer !== this.#port.writer || !this.#port.isWriting()) return;
    const served: Served = { asking, leave: new AbortController(), taken: () => undefined };
    this.#served.set(reader, served);
    void this.#serve(question, served).finally(() => {
      served.leave.abort();
      if (this.#served.get(reader) === served) this.#served.delete(reader);
    });
  }

  async #serve(question: StreamQuestion, { leave, ...served }: Served): Promise<void> {
    const { reader, asking } = question;
    const { channel, locks, read, isWriting } = this.#port;
    const { signal } = leave;
    const isGone = (): void => leave.abort();
    locks.request(lockOf(reader), { signal }, isGone).catch(isGone);
    try {
      for await (const frame of read(question, signal)) {
        const taken = this.#taken(reader, served.asking, signal);
        channel.announce({ type: "stream_told", reader, asking, frame });
        await taken;
        if (signal.aborted) return;
      }
    } catch (thrown) {
      if (signal.aborted || !isWriting()) return; // The next writer is asked.
      const { code = "internal", message } = thrown as { readonly code?: string; readonly message: string };
      channel.announce({ type: "stream_refused", reader, asking, code, message });
    }
  }

  /** Resolves when the reader has taken its frame, or is gone. */
  #taken(reader: string, asking: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const served = this.#served.get(reader);
      if (served?.asking !== asking || signal.aborted) return resolve();
      served.taken = resolve;
      signal.addEventListener("abort", () => resolve(), { once: true });
    });
  }

  /** Leaves all readers: another tab writes now, and they ask that one. */
  end(): void {
    for (const { leave } of this.#served.values()) leave.abort();
    this.#served.clear();
  }
}

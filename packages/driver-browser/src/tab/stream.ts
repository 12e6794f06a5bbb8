/**
 * Streams of calls in any tab. Only the tab that writes has what is said and not on record yet, so readers in all tabs ask it,
 * by the channel: one question, then frame by frame. A frame is sent when the one before it was taken, so a slow reader is
 * given the record later, and holds nobody up.
 *
 *    reader ── asked { from } ──► writer ── session.stream ─┐
 *       ▲  ◄──────── told { frame } ────────────────────────┤
 *       └── taken ──► the next frame                        │
 *       └── a beat of another writer ──► asks that one, from its cursor
 *
 * Both may go at any moment. A reader holds a Web Lock: the browser passes it to the writer when the reader's tab closes or
 * crashes, and the writer leaves the stream. When the writer goes, the next one is asked from the reader's cursor, and tells by
 * a reset what the reader has to drop.
 *
 * This file imports no code: pages load it alone, when a stream is first read.
 */
import type { Refused, Runtime } from "@pawl/runtime";
import type { StreamCursor, StreamFrame, StreamOptions, cursorAfter } from "@pawl/runtime/driver";
import type { Json } from "@pawl/tool-value";
import type { Channel } from "./broadcast.ts";
import type { TabMessage } from "./message.ts";

/** The parts of a tab that streams use. */
export interface StreamPort {
  readonly channel: Pick<Channel, "hear" | "announce">;
  readonly locks: LockManager;
  /** Names this tab. */
  readonly writer: string;
  readonly isWriting: () => boolean;
  readonly runtime: () => Promise<Pick<Runtime, "has" | "session" | "processes">>;
  /** Aborts when the tab is closed, with the reason. */
  readonly left: AbortSignal;
  readonly cursorAfter: typeof cursorAfter;
  readonly Refused: typeof Refused;
}

/** A call, in the scope that it is of. */
export interface StreamPlace {
  readonly scope: string;
  readonly call: string;
}

/** Names a reader, and the lock that it holds for as long as it reads; and counts its questions. */
interface Asking {
  readonly reader: string;
  /** An answer to an earlier question is void. */
  readonly asking: number;
}

interface Question extends Asking, StreamPlace {
  readonly word: "asked";
  /** The tab that is asked: one that was replaced, and does not know it yet, keeps silent. */
  readonly writer: string;
  readonly name: string;
  /** A place that the reader has come to: of an attempt or, without one, in what is on record. */
  readonly at: number;
  readonly attempt?: number;
}

interface Told extends Asking {
  readonly word: "told";
  readonly frame: StreamFrame;
}

interface Failed extends Asking {
  readonly word: "failed";
  readonly code: string;
  readonly message: string;
}

interface Taken extends Asking {
  readonly word: "taken";
}

type Word = Question | Told | Failed | Taken;

/** The number of these forms. Words of a page of another release, which has other forms, are not heard. */
const form = 1;

const wordOf = (message: TabMessage): Word | undefined =>
  message.type === "stream" && message.form === form ? (message.word as unknown as Word) : undefined;

const say = ({ channel }: StreamPort, word: Word): void =>
  channel.announce({ type: "stream", form, word: word as unknown as Json });

const lockOf = (reader: string): string => `pawl reader ${reader}`;

/** Takes a lock; resolves with the function that gives it back. */
const hold = (locks: LockManager, name: string): Promise<() => void> =>
  new Promise((held, failed) => {
    locks.request(name, () => new Promise<void>((leave) => held(leave))).catch(failed);
  });

const nowhere: StreamCursor = { attempt: 0, at: 0 };

class Reading {
  readonly #port: StreamPort;
  readonly #of: StreamPlace & { readonly reader: string; readonly name: string };
  readonly #isRecordedOnly: boolean;
  #cursor: StreamCursor;
  #asking = 0;
  #writer: string | undefined;
  #answer: Told | Failed | undefined;
  #wake: (() => void) | undefined;

  constructor(port: StreamPort, reader: string, of: StreamPlace, { name, from = nowhere }: StreamOptions) {
    this.#port = port;
    this.#of = { ...of, reader, name };
    this.#isRecordedOnly = typeof from === "number";
    this.#cursor = typeof from === "number" ? { attempt: 0, at: from } : from;
  }

  /** Asks the tab that writes, from where the reader is. */
  #ask(writer: string): void {
    this.#writer = writer;
    this.#asking += 1;
    this.#answer = undefined;
    const { attempt, at } = this.#cursor;
    const from = this.#isRecordedOnly ? { at } : { at, attempt };
    say(this.#port, { word: "asked", ...this.#of, asking: this.#asking, writer, ...from });
  }

  hear(message: TabMessage): void {
    if (message.type === "beat" && message.writer !== this.#writer) return this.#ask(message.writer);
    const said = wordOf(message);
    if (said?.reader !== this.#of.reader || said.asking !== this.#asking) return;
    if (said.word !== "told" && said.word !== "failed") return;
    this.#answer = said;
    this.wake();
  }

  wake(): void {
    this.#wake?.();
  }

  async *frames(isOver: () => boolean): AsyncGenerator<StreamFrame> {
    this.#port.channel.announce({ type: "asked" }); // The tab that writes answers by a beat, and is asked then.
    while (!isOver()) {
      const answer = this.#answer;
      this.#answer = undefined;
      if (answer === undefined) await new Promise<void>((wake) => (this.#wake = wake));
      else if (answer.word === "failed") throw new this.#port.Refused(answer.code, answer.message);
      else {
        const { frame, reader, asking } = answer;
        this.#cursor = this.#port.cursorAfter(frame, this.#cursor);
        yield frame;
        if (frame.type === "end") return;
        if (asking === this.#asking) say(this.#port, { word: "taken", reader, asking });
      }
    }
  }
}

/** Reads a stream of a call in any tab, until its end, or until the signal aborts or the tab is closed. */
export async function* readStream(
  port: StreamPort,
  of: StreamPlace,
  options: StreamOptions,
): AsyncGenerator<StreamFrame> {
  const { left } = port;
  const signal = options.signal === undefined ? left : AbortSignal.any([options.signal, left]);
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
  if (options.signal?.aborted !== true) left.throwIfAborted();
}

interface Served {
  readonly asking: number;
  readonly leave: AbortController;
  taken: () => void;
}

/** Answers readers of all tabs, while this tab writes. */
export class StreamServer {
  readonly #port: StreamPort;
  readonly #served = new Map<string, Served>();

  constructor(port: StreamPort) {
    this.#port = port;
  }

  /** Takes a word of a reader. One that asks another tab has left this one. */
  take(message: TabMessage): void {
    const said = wordOf(message);
    const served = said && this.#served.get(said.reader);
    if (said?.word === "taken" && served?.asking === said.asking) served.taken();
    if (said?.word !== "asked") return;
    served?.leave.abort();
    if (said.writer === this.#port.writer && this.#port.isWriting()) this.#begin(said);
  }

  #begin(question: Question): void {
    const { reader, asking } = question;
    const served: Served = { asking, leave: new AbortController(), taken: () => undefined };
    this.#served.set(reader, served);
    void this.#serve(question, served).finally(() => {
      served.leave.abort();
      if (this.#served.get(reader) === served) this.#served.delete(reader);
    });
  }

  async #serve(question: Question, served: Served): Promise<void> {
    const { reader, asking } = question;
    const { signal } = served.leave;
    const isGone = (): void => served.leave.abort();
    this.#port.locks.request(lockOf(reader), { signal }, isGone).catch(isGone);
    try {
      for await (const frame of this.#read(question, signal)) {
        const { promise, resolve } = Promise.withResolvers<void>();
        served.taken = resolve;
        signal.addEventListener("abort", () => resolve(), { once: true });
        say(this.#port, { word: "told", reader, asking, frame });
        await promise;
        if (signal.aborted) return;
      }
    } catch (thrown) {
      if (signal.aborted || !this.#port.isWriting()) return; // The next writer is asked.
      const { code = "failed", message } = thrown as { readonly code?: string; readonly message: string };
      say(this.#port, { word: "failed", reader, asking, code, message });
    }
  }

  /** Reads a stream of this tab's runtime. A scope that there is not is not made by that. */
  async *#read({ scope, call, name, at, attempt }: Question, signal: AbortSignal): AsyncGenerator<StreamFrame> {
    const runtime = await this.#port.runtime();
    const [, kind, id = ""] = /^(session|process):(.+)$/s.exec(scope) ?? [];
    if (kind === undefined || !(await runtime.has(scope)))
      throw new this.#port.Refused("stream_unknown", `stream \`${name}\`: there is no scope \`${scope}\``);
    const found = await (kind === "session" ? runtime.session(id) : runtime.processes.scope(id));
    yield* found.stream(call, { name, signal, from: attempt === undefined ? at : { attempt, at } });
  }
}

/**
 * Readers of a stream: from a cursor on, first what is on record, then what is said. A reader takes what it wants when it
 * wants it: one that is slow keeps nobody waiting, and is given the record later.
 *
 * Chunks may be shown before they are on record. Where a process dies before that, the next attempt of the producer
 * gives the same numbers to other chunks, and the reader is told to drop what it has of them by `reset`. A reader that
 * asks by a bare number is shown recorded chunks alone: nothing that it has is ever void.
 */
import type { StreamAttempt } from "@pawl/sansio-core/driver";
import { Refused } from "../error.ts";
import type { Sequence, StreamBuffer } from "./tail.ts";

/** A reader's place: it has all before `at`, the last of it said by an attempt. */
export interface StreamCursor {
  readonly attempt: number;
  readonly at: number;
}

/** Something that a reader is told. */
export type Told<S> =
  /** Units from a number on. `isRecorded`: they keep their numbers for good. */
  | {
      readonly type: "chunks";
      readonly from: number;
      readonly attempt: number;
      readonly isRecorded: boolean;
      readonly chunks: S;
    }
  /** An attempt begins at `from`: drop what you have from there on. What the stream says begins with `keep`. */
  | { readonly type: "reset"; readonly attempt: number; readonly from: number; readonly keep: number }
  /** The log has these no more. */
  | { readonly type: "gap"; readonly from: number; readonly to: number }
  /** `isDone`: its producer has said all. If not, its call was over before that. */
  | { readonly type: "end"; readonly attempt: number; readonly at: number; readonly isDone: boolean };

/** Returns the cursor of a reader that was told this. */
export const cursorAfter = (told: Told<{ readonly length: number }>, before: StreamCursor): StreamCursor => {
  switch (told.type) {
    case "chunks":
      return { attempt: told.attempt, at: told.from + told.chunks.length };
    case "reset":
      return { attempt: told.attempt, at: told.from };
    case "gap":
      return { ...before, at: told.to };
    case "end":
      return { attempt: told.attempt, at: told.at };
  }
};

/** The part of a stream that is on record, at one moment. */
export interface StreamRecord<S> {
  readonly attempts: readonly Omit<StreamAttempt, "seq">[];
  readonly end: number;
  /** Nothing more comes: the producer has said all, or the call is over. */
  readonly isOver: boolean;
  readonly isDone: boolean;
  /** Reads units from a number on, as many as were recorded together; or says from where there are some. */
  readonly read: (from: number) => Promise<{ readonly chunks: S } | { readonly next: number }>;
}

export interface StreamSource<S extends Sequence<S>> {
  readonly buffer: StreamBuffer<S>;
  /** Finds what is on record; undefined while there is nothing, not even a beginning. */
  readonly record: () => Promise<StreamRecord<S> | undefined>;
}

/** The last attempt that had begun when this unit was said. */
const attemptOf = (attempts: StreamRecord<unknown>["attempts"], at: number): number =>
  Math.max(1, attempts.findLastIndex(({ from }) => from <= at) + 1);

class Reader<S extends Sequence<S>> {
  readonly #source: StreamSource<S>;
  readonly #isRecordedOnly: boolean;
  #attempt: number;
  #at: number;

  constructor(source: StreamSource<S>, from: number | StreamCursor | undefined) {
    this.#source = source;
    this.#isRecordedOnly = typeof from === "number";
    this.#attempt = typeof from === "object" ? from.attempt : 0;
    this.#at = typeof from === "object" ? from.at : (from ?? 0);
  }

  /** Takes the next thing to tell; undefined while there is none. */
  async next(): Promise<Told<S> | undefined> {
    const record = await this.#source.record();
    if (record === undefined) return undefined;
    if (this.#attempt === 0) this.#begin(record);
    for (let reset = this.#reset(record); reset !== undefined; reset = this.#reset(record)) {
      this.#attempt = reset.attempt;
      this.#at = reset.from;
      if (!this.#isRecordedOnly) return reset;
    }
    if (this.#at < record.end) return this.#recorded(record);
    return record.isOver ? this.#end(record) : this.#said();
  }

  /** A number beyond the record is waited for, unless nothing more comes. */
  #begin({ attempts, end, isOver }: StreamRecord<S>): void {
    if (isOver && this.#at > end) throw aheadOf(`the stream has ${end} chunks on record`, this.#at);
    this.#attempt = attemptOf(attempts, this.#at);
  }

  /** Finds where the next attempt begins, once all of the one before was told, or what was told of it is void. */
  #reset({ attempts, end, isOver }: StreamRecord<S>): (Told<S> & { readonly type: "reset" }) | undefined {
    const attempt = this.#attempt;
    if (attempt > attempts.length) throw aheadOf(`the stream is in attempt ${attempts.length}`, attempt);
    const next = attempts[attempt];
    if (next !== undefined && this.#at >= next.from)
      return { type: "reset", attempt: attempt + 1, from: next.from, keep: next.keep };
    if (!isOver || this.#at <= end) return undefined;
    return { type: "reset", attempt, from: end, keep: attempts[attempt - 1]?.keep ?? end };
  }

  async #recorded({ attempts, end, read }: StreamRecord<S>): Promise<Told<S>> {
    const from = this.#at;
    const to = Math.min(end, attempts[this.#attempt]?.from ?? end);
    const held = this.#source.buffer.read(from, to);
    const found = held === undefined ? await read(from) : { chunks: held };
    if ("next" in found) {
      this.#at = found.next;
      this.#attempt = attemptOf(attempts, found.next);
      return { type: "gap", from, to: found.next };
    }
    const chunks = found.chunks.slice(0, to - from);
    this.#at += chunks.length;
    return { type: "chunks", from, attempt: this.#attempt, isRecorded: true, chunks };
  }

  /** Tells what is said now, and is not on record yet. */
  #said(): Told<S> | undefined {
    const { buffer } = this.#source;
    if (this.#isRecordedOnly || buffer.attempt !== this.#attempt) return undefined;
    const from = this.#at;
    const chunks = buffer.read(from, buffer.end);
    if (chunks === undefined) return undefined;
    this.#at += chunks.length;
    return { type: "chunks", from, attempt: this.#attempt, isRecorded: false, chunks };
  }

  #end({ isDone }: StreamRecord<S>): Told<S> {
    return { type: "end", attempt: this.#attempt, at: this.#at, isDone };
  }
}

const aheadOf = (what: string, cursor: number): Refused =>
  new Refused("cursor_ahead", `${what}, the cursor is ${cursor}`);

/** Reads a stream from a cursor on, until its end or until the signal aborts. */
export async function* readStream<S extends Sequence<S>>(
  source: StreamSource<S>,
  from: number | StreamCursor | undefined,
  signal: AbortSignal,
): AsyncGenerator<Told<S>> {
  const reader = new Reader(source, from);
  const wake = (): void => source.buffer.changed();
  signal.addEventListener("abort", wake);
  try {
    while (!signal.aborted) {
      const { version } = source.buffer;
      const told = await reader.next();
      if (told === undefined) await source.buffer.since(version);
      else yield told;
      if (told?.type === "end") return;
    }
  } finally {
    signal.removeEventListener("abort", wake);
  }
}

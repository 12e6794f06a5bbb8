/**
 * The producer of a stream: the program's generator, pulled chunk by chunk. Each chunk is shown to readers at once, and goes
 * on record with its group: when the group holds `groupBytes`, or `groupMs` after its first chunk.
 *
 *    generator ─ chunk ─► buffer (shown) ─► group ── 250 ms, or 4 KB ──► stream.recorded ──► durable
 *        ▲                                                                                     │
 *        └── pulled again while no more than `aheadBytes` wait to be durable ◄─────────────────┘
 *
 * So a slow disk slows the producer, and slow readers do not. A producer that is cancelled, or fails, leaves on record what
 * it has said.
 */
import type { Event, Rejection } from "@pawl/sansio-core";
import { type StreamRow, bytesOf, streamIn } from "@pawl/sansio-core/driver";
import type { Json } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { EffectError } from "../error.ts";
import type { RunId } from "../body/record.ts";
import { turn } from "../scope/history.ts";
import type { Platform } from "../platform.ts";
import type { ScopeRunner } from "../scope/runner.ts";
import type { StreamBuffer } from "./tail.ts";
import type { ScopeStreams } from "./streams.ts";

const groupMs = 250;
const groupBytes = 4096;
const aheadBytes = 16 * groupBytes;
/** A chunk stands whole in the log. */
const longestChunk = 256 * 1024;

type Chunks = AsyncIterable<unknown> | Iterable<unknown>;

/** Makes an iterator that is pulled, of whatever a generator gives. */
const iteratorOf = (chunks: Chunks): AsyncIterator<unknown> | Iterator<unknown> =>
  Symbol.asyncIterator in chunks ? chunks[Symbol.asyncIterator]() : chunks[Symbol.iterator]();

/** Rejects with the reason once a signal aborts. */
const aborted = (signal: AbortSignal): { readonly promise: Promise<never>; readonly leave: () => void } => {
  const { promise, reject } = Promise.withResolvers<never>();
  const abort = (): void => reject(signal.reason as Error);
  promise.catch(() => undefined); // Mostly nobody waits for it.
  if (signal.aborted) abort();
  else signal.addEventListener("abort", abort, { once: true });
  return { promise, leave: () => signal.removeEventListener("abort", abort) };
};

const full = (name: string, most: string): EffectError =>
  new EffectError(
    "stream_full",
    `stream \`${name}\` holds ${most}, which is its bound: say less, or begin another stream`,
  );

/** How a producer is told to end. */
interface Stop {
  readonly signal: AbortSignal;
  /** The reason with which the program says that it has enough: then all is said. */
  readonly stopped: Error;
}

export class Producer {
  readonly #runner: ScopeRunner;
  readonly #platform: Platform;
  readonly #call: string;
  readonly #run: number;
  readonly #name: string;
  readonly #left: () => void;
  readonly #buffer: StreamBuffer<readonly Json[]>;
  /** Chunks that were shown, and are not in an event yet. */
  #group: Json[] = [];
  #groupBytes = 0;
  /** Bytes in events that are not durable yet. */
  #ahead = 0;
  #bytes = 0;
  #count = 0;
  #callOff: (() => void) | undefined;

  constructor(runner: ScopeRunner, streams: ScopeStreams, { call, run }: Omit<RunId, "attempt">, name: string) {
    this.#runner = runner;
    this.#platform = streams.platform;
    this.#call = call;
    this.#run = run;
    this.#name = name;
    this.#buffer = streams.enter(call, name);
    this.#left = () => streams.leave(call, name);
  }

  /** True while its run goes on: what it says may be recorded. */
  get #isLive(): boolean {
    return !this.#runner.isAbandoned && this.#row?.run === this.#run;
  }

  get #row(): StreamRow | undefined {
    return streamIn(this.#runner.state, this.#call, this.#name);
  }

  /** Begins. In a later run of the body the producer says so first, with this event, and waits until that is on record. */
  async begin(restarted: (seq: number) => void): Promise<StreamRow> {
    const before = this.#row;
    if (before !== undefined && before.run !== this.#run) {
      const { attempts, chunks: from, resumes } = before;
      const keep = resumes ? { keep: attempts.at(-1)?.keep ?? from } : {};
      this.#apply({ type: "stream.reset", ...this.#of(), attempt: attempts.length + 1, ...keep });
      restarted(this.#runner.state.seq);
      await this.#runner.whenDurable();
    }
    const row = this.#row;
    if (row === undefined) throw new EffectError("call_ended", `stream \`${this.#name}\`: the call has ended`);
    this.#buffer.begin(row.attempts.length, row.chunks);
    this.#bytes = row.bytes;
    this.#count = row.chunks;
    return row;
  }

  #of() {
    const { attempts = [], chunks: from = 0, last } = this.#row ?? {};
    const after = last === undefined ? {} : { after: last };
    return { call: this.#call, stream: this.#name, attempt: attempts.length, from, ...after };
  }

  #apply(event: Event): void {
    const told: E.Either<Rejection, unknown> = this.#runner.apply(event);
    if (E.isLeft(told)) throw new EffectError(told.left.code, told.left.message);
  }

  /** Pulls all chunks, until the generator ends or the signal aborts. Resolves to the number behind the last of them. */
  async pull(source: () => Chunks, toChunk: (said: unknown) => Json, { signal, stopped }: Stop): Promise<number> {
    const abort = aborted(signal);
    const iterator = iteratorOf(source());
    try {
      for (;;) {
        const next = await Promise.race([iterator.next(), abort.promise]);
        if (next.done === true) break;
        this.#say(toChunk(next.value));
        if (this.#groupBytes >= groupBytes) await this.#fullGroup(abort.promise);
      }
      return this.#end(true);
    } catch (thrown) {
      void this.#leave(iterator);
      if (thrown === stopped) return this.#end(true);
      if (this.#isLive) this.#end(false);
      throw thrown;
    } finally {
      abort.leave();
    }
  }

  /** Lets the generator clean up. It may stand still: nobody waits for that, or hears what it throws. */
  async #leave(iterator: AsyncIterator<unknown> | Iterator<unknown>): Promise<void> {
    try {
      await iterator.return?.();
    } catch {
      return; // What ended the producer is told; this comes after it.
    }
  }

  #say(chunk: Json): void {
    const bytes = bytesOf(chunk);
    const { max_stream_bytes: maxBytes, max_stream_chunks: maxChunks } = this.#runner.state.scope.options;
    if (bytes > longestChunk)
      throw new EffectError(
        "stream_full",
        `a chunk of stream \`${this.#name}\`: expected ${longestChunk} bytes at most, found ${bytes}`,
      );
    if (this.#count + 1 > maxChunks) throw full(this.#name, `${maxChunks} chunks`);
    if (this.#bytes + bytes > maxBytes) throw full(this.#name, `${this.#bytes} bytes of ${maxBytes}`);
    this.#count += 1;
    this.#bytes += bytes;
    this.#group.push(chunk);
    this.#groupBytes += bytes;
    this.#buffer.push([chunk]);
    this.#callOff ??= this.#platform.later(groupMs, () => this.#timeIsUp());
  }

  #timeIsUp(): void {
    this.#callOff = undefined;
    if (this.#isLive) this.#record({});
  }

  /** Records a group that is full, and waits while too much is not durable: a generator that never waits lets others in. */
  async #fullGroup(abort: Promise<never>): Promise<void> {
    this.#record({});
    await Promise.race([turn(this.#platform), abort]);
    if (this.#ahead > aheadBytes) await Promise.race([this.#runner.whenDurable(), abort]);
  }

  #record(last: { readonly last?: true }): void {
    this.#callOff?.();
    this.#callOff = undefined;
    if (this.#group.length === 0 && last.last === undefined) return;
    const bytes = this.#groupBytes;
    this.#apply({ type: "stream.recorded", ...this.#of(), chunks: this.#group, ...last });
    this.#group = [];
    this.#groupBytes = 0;
    this.#ahead += bytes;
    void this.#runner.whenDurable().then(
      () => (this.#ahead -= bytes),
      () => undefined, // The scope is lost, and the producer with it.
    );
  }

  /** Records the rest. */
  #end(isDone: boolean): number {
    this.#record(isDone ? { last: true } : {});
    return this.#count;
  }

  /** Gives its place back. */
  leave(): void {
    this.#callOff?.();
    this.#left();
  }
}

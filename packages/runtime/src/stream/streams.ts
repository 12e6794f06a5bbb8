/**
 * The streams of one scope, as its readers find them: what is in memory of each, and what the log has of it. A stream is
 * in memory while its producer works or somebody reads it.
 *
 *    producer ── say ──► buffer ──────────────────────────────► readers that are up to date
 *        └─ stream.recorded ──► log ──► row of the call ──► index ──► readers that are not
 *                                  └──► finished index, once the call is over
 */
import type { Event, Finished, Recorded } from "@pawl/sansio-core";
import { type StreamAttempt, type StreamGroup, type StreamRow, streamId, streamIn } from "@pawl/sansio-core/driver";
import { type Codec, type Json, array, boolean, json, tagged, u64 } from "@pawl/tool-value";
import { Refused } from "../error.ts";
import type { Access } from "../scope/access.ts";
import type { Platform } from "../platform.ts";
import { recordedIn } from "../scope/history.ts";
import { StreamBuffer } from "./tail.ts";
import { type StreamCursor, type StreamRecord, type StreamSource, type Told, readStream } from "./reader.ts";

/** One thing that a reader of a stream is told. */
export type StreamFrame = Told<readonly Json[]>;
type Chunks = readonly Json[];

/** Decodes and encodes the frames of a stream, as the wire carries them. */
export const StreamFrame: Codec<StreamFrame> = tagged<StreamFrame, "type">("a frame of a stream", "type", {
  chunks: { from: u64, attempt: u64, isRecorded: boolean, chunks: array(json) },
  reset: { attempt: u64, from: u64, keep: u64 },
  gap: { from: u64, to: u64 },
  end: { attempt: u64, at: u64, isDone: boolean },
});

export interface StreamOptions {
  /** The name of the stream, as the tool gave it to `ctx.stream`. */
  readonly name: string;
  /**
   * Says how much the reader has: nothing, if it is left out. A number counts chunks, and asks for recorded ones alone; a cursor, made
   * of the last frame, goes on with what is said as well.
   */
  readonly from?: number | StreamCursor;
  /** Ends the reading. */
  readonly signal?: AbortSignal;
}

/** Where a stream stands in the log. */
interface Index extends Pick<StreamRecord<Chunks>, "attempts" | "end" | "isOver" | "isDone"> {
  readonly groups: readonly StreamGroup[];
}

interface Entry {
  readonly buffer: StreamBuffer<Chunks>;
  readonly call: string;
  users: number;
}

const never = new AbortController().signal;

const eventAt = async ({ runner, readLines }: Access, seq: number): Promise<Recorded["event"] | undefined> => {
  const [line] = await readLines(seq, seq);
  return line?.seq === seq ? recordedIn(runner.id, line).event : undefined;
};

const indexOf = ({ attempts, groups, chunks: end, isDone }: StreamRow): Index => ({
  attempts,
  groups,
  end,
  isDone,
  isOver: isDone,
});

interface Found {
  readonly attempts: (Omit<StreamAttempt, "seq"> | undefined)[];
  readonly groups: StreamGroup[];
  end: number;
  isDone: boolean;
}

/** Adds one event of a stream to what was found behind it. Of each attempt the reset counts, or its earliest group. */
const add = (found: Found, seq: number, event: Event): number | undefined => {
  if (event.type !== "stream.recorded" && event.type !== "stream.reset") return undefined;
  const { attempt, from, after } = event;
  const isReset = event.type === "stream.reset";
  const keep = isReset ? (event.keep ?? from) : from;
  found.attempts[attempt - 1] = { from, keep };
  if (isReset || event.chunks.length === 0) found.end = Math.max(found.end, from);
  else {
    found.groups.unshift({ seq, from });
    found.end = Math.max(found.end, from + event.chunks.length);
  }
  found.isDone ||= !isReset && event.last === true && found.attempts.length === attempt;
  return after;
};

/** Fills attempts that recorded nothing: they began where the next one did. */
const filled = (attempts: Found["attempts"]): Index["attempts"] => {
  const all: Omit<StreamAttempt, "seq">[] = [];
  for (const found of [...attempts].toReversed()) all.unshift(found ?? all[0] ?? { from: 0, keep: 0 });
  return all;
};

/** Finds a stream whose call is over: each of its events in the log names the one before it. */
const indexFrom = async (access: Access, last: number): Promise<Index> => {
  const found: Found = { attempts: [], groups: [], end: 0, isDone: false };
  for (let seq: number | undefined = last; seq !== undefined;) {
    const event = await eventAt(access, seq);
    seq = event === undefined ? undefined : add(found, seq, event);
  }
  const { groups, end, isDone } = found;
  return { attempts: filled(found.attempts), groups, end, isDone, isOver: true };
};

const nothing: Index = { attempts: [{ from: 0, keep: 0 }], groups: [], end: 0, isDone: false, isOver: true };

export class ScopeStreams {
  readonly #entries = new Map<string, Entry>();
  #lost: Error | undefined;
  readonly platform: Platform;

  constructor(platform: Platform) {
    this.platform = platform;
  }

  /** Takes the buffer of a stream, until `leave`. */
  enter(call: string, name: string): StreamBuffer<Chunks> {
    const id = streamId(call, name);
    const entry = this.#entries.get(id) ?? { buffer: new StreamBuffer<Chunks>([]), call, users: 0 };
    this.#entries.set(id, entry);
    entry.users += 1;
    return entry.buffer;
  }

  leave(call: string, name: string): void {
    const id = streamId(call, name);
    const entry = this.#entries.get(id);
    if (entry === undefined) return;
    entry.users -= 1;
    if (entry.users === 0) this.#entries.delete(id);
  }

  /** Tells the readers of what was just stepped, once it is durable. */
  stepped(
    event: Event,
    finished: readonly Finished[],
    runner: Pick<Access["runner"], "whenDurable" | "durable">,
  ): void {
    if (this.#entries.size === 0) return;
    const touched = this.#touched(event, finished);
    if (touched.length === 0) return;
    void runner.whenDurable().then(
      () => {
        for (const [name, { buffer, call }] of touched) {
          const row = name === undefined ? undefined : streamIn(runner.durable, call, name);
          if (row === undefined) buffer.changed();
          else buffer.record(row.chunks);
        }
      },
      () => undefined, // The scope is lost: `end` tells.
    );
  }

  #touched(event: Event, finished: readonly Finished[]): readonly (readonly [name: string | undefined, Entry])[] {
    const over = new Set(finished.filter(({ kind }) => kind === "stream" || kind === "call").map(({ id }) => id));
    const touched: (readonly [string | undefined, Entry])[] = [];
    if (over.size > 0)
      for (const [id, entry] of this.#entries)
        if (over.has(id) || over.has(entry.call)) touched.push([undefined, entry]);
    const name = streamOf(event);
    const entry = name === undefined ? undefined : this.#entries.get(streamId(name.call, name.stream));
    return entry === undefined ? touched : [...touched, [name?.stream, entry]];
  }

  /** Ends all reading: the scope is lost. */
  end(error: Error): void {
    this.#lost = error;
    for (const { buffer } of this.#entries.values()) buffer.changed();
  }

  /** Reads a stream of a call, live or late, from a cursor on. */
  async *read(
    access: Access,
    call: string,
    { name, from, signal = never }: StreamOptions,
  ): AsyncGenerator<StreamFrame> {
    const buffer = this.enter(call, name);
    void access.runner.whenDurable().then(
      () => buffer.changed(), // What was stepped before, and was not durable when the reader looked first.
      () => undefined,
    );
    try {
      yield* readStream(this.#source(access, call, name, buffer), from, signal);
    } finally {
      this.leave(call, name);
    }
  }

  #source(access: Access, call: string, name: string, buffer: StreamBuffer<Chunks>): StreamSource<Chunks> {
    let over: Index | undefined;
    const record = async (): Promise<StreamRecord<Chunks> | undefined> => {
      if (this.#lost !== undefined) throw this.#lost;
      const index = over ?? (await find(access, call, name));
      if (index === undefined) return undefined;
      if (index.isOver) over = index;
      return { ...index, read: (from) => readGroup(access, index.groups, from) };
    };
    return { buffer, record };
  }
}

const streamOf = (event: Event): { readonly call: string; readonly stream: string } | undefined => {
  if (event.type === "stream.recorded" || event.type === "stream.reset") return event;
  if (event.type !== "effect.requested" || event.effect.kind !== "step" || event.effect.stream === undefined)
    return undefined;
  return { call: event.call, stream: event.effect.stream.name };
};

/** Finds what is on record of a stream; undefined while its call may still begin it. */
const find = async (access: Access, call: string, name: string): Promise<Index | undefined> => {
  const { runner, finished } = access;
  const row = streamIn(runner.durable, call, name);
  if (row !== undefined) return indexOf(row);
  const seq = await finished.find("stream", streamId(call, name));
  if (seq !== undefined) return indexAt(access, name, seq);
  if (runner.state.calls.at(call) !== undefined) return undefined;
  const what =
    (await finished.find("call", call)) === undefined ? "there is no call" : "there was no such stream in call";
  throw new Refused("stream_unknown", `stream \`${name}\`: ${what} \`${call}\``);
};

/** Finds a stream by its last event. One that recorded nothing is found by the event that ended its call. */
const indexAt = async (access: Access, name: string, seq: number): Promise<Index> => {
  const event = await eventAt(access, seq);
  if (event === undefined) throw new Refused("gone", `stream \`${name}\`: retention has deleted what it said`);
  return event.type.startsWith("stream.") ? indexFrom(access, seq) : nothing;
};

/** Reads the chunks of a group, from one of them on. What retention has taken is skipped, and said. */
const readGroup = async (
  access: Access,
  groups: readonly StreamGroup[],
  from: number,
): Promise<{ readonly chunks: Chunks } | { readonly next: number }> => {
  const at = groups.findLastIndex((group) => group.from <= from);
  const group = groups[at];
  const event = group === undefined ? undefined : await eventAt(access, group.seq);
  if (group === undefined || event?.type !== "stream.recorded") return { next: groups[at + 1]?.from ?? from };
  return { chunks: event.chunks.slice(from - group.from) };
};

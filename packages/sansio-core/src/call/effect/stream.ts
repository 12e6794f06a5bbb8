/**
 * A stream: what a step says while it works, chunk by chunk, for its body and for whoever reads along. Chunks are on record
 * in groups. A chunk on record has its number for good, over all attempts and lives of the call.
 *
 *   effect.requested ─▶ attempt 1 ── stream.recorded ─▶ … ── stream.recorded { last } ─▶ step.settled
 *                           └─ lost ─▶ stream.reset ─▶ attempt 2 ── stream.recorded ─▶ …
 *
 * An attempt is one run of the producer. Its process may have shown chunks that were never on record, and their numbers
 * are given again: whoever was shown them drops what lies from `from` on. Chunks from `keep` on are what the stream says:
 * a producer that resumes goes on after the chunks on record, any other begins anew.
 *
 * The rows are the body's, and leave the state with it: the finished index names the last event of each stream. Each of
 * these events names the one before it (`after`), so that a reader finds all groups from the last.
 *
 * Invariants
 *   G1  groups stand in the order of the log, and each begins where a chunk of its own begins
 *   G2  attempts stand in the order of the log, and each begins where the record of the one before ended
 *   G3  an open step that streams fills a stream of its body, and no two fill the same
 *   G4  what is on record keeps its number: a stream only grows, and within its bounds
 */
import { stringify, type Json, utf8 } from "@pawl/tool-value";
import type { ChangeCheck, Check } from "../../concern.ts";
import type { Draft } from "../../kernel/draft.ts";
import { type Rejection, firstBroken, reject } from "../../kernel/error.ts";
import type { EventOf, State } from "../../kernel/vocabulary.ts";
import { recorded } from "../recovery/owner-lost.ts";
import type { OpenEffect } from "./effect.ts";
import type { BodyState, CallIn } from "../model.ts";
import { bodyOf, inPhase, isRejection, putCall, runningRow } from "../row.ts";

/** One run of a producer. */
export interface StreamAttempt {
  /** The event that began it. */
  readonly seq: number;
  /** The number of its first chunk. */
  readonly from: number;
  /** The number of the first chunk that readers are shown. */
  readonly keep: number;
}

/** Chunks that were recorded together. */
export interface StreamGroup {
  readonly seq: number;
  readonly from: number;
}

export interface StreamRow {
  readonly name: string;
  readonly resumes: boolean;
  readonly attempts: readonly StreamAttempt[];
  readonly groups: readonly StreamGroup[];
  /** How many chunks are on record, and how many bytes. */
  readonly chunks: number;
  readonly bytes: number;
  /** The last event that recorded something of it. */
  readonly last?: number;
  /** The run of the body that its producer is in. */
  readonly run: number;
  /** Its producer has said all. */
  readonly isDone: boolean;
}

interface OfStream {
  readonly call: string;
  readonly stream: string;
  readonly attempt: number;
  readonly from: number;
  /** The event of this stream before; left out by the first. */
  readonly after?: number;
}

export type StreamEvent =
  | ({ readonly type: "stream.recorded"; readonly chunks: readonly Json[]; readonly last?: boolean } & OfStream)
  /** The producer begins again. Left out: `keep`, where it is `from`. */
  | ({ readonly type: "stream.reset"; readonly keep?: number } & OfStream);

/** Counts a chunk: a text by its UTF-8 bytes, anything else by those of its JSON. */
export const bytesOf = (chunk: Json): number => utf8(typeof chunk === "string" ? chunk : stringify(chunk)).length;

const named = (streams: readonly StreamRow[], name: string): StreamRow | undefined => {
  for (const row of streams) if (row.name === name) return row;
  return undefined;
};

/** Returns the row of a stream, while its call has a body. */
export const streamIn = ({ calls }: State, call: string, name: string): StreamRow | undefined => {
  const row = calls.at(call);
  const body = row === undefined ? undefined : bodyOf(row);
  return body === undefined ? undefined : named(body.streams, name);
};

const withStream = ({ streams }: BodyState, row: StreamRow): readonly StreamRow[] => [
  ...streams.filter(({ name }) => name !== row.name),
  row,
];

const none = { attempts: [], groups: [], chunks: 0, bytes: 0 } as const;

export interface StreamSpec {
  readonly name: string;
  /** The producer goes on after the chunks that are on record. */
  readonly resumes?: boolean;
}

/** Returns the streams of a body after a step of it has begun one: with its first attempt, or with one more. */
export const beginStream = (draft: Draft, body: BodyState, spec: StreamSpec): readonly StreamRow[] => {
  const before = named(body.streams, spec.name) ?? none;
  const from = before.chunks;
  const attempts = [...before.attempts, { seq: draft.seq, from, keep: from }];
  const { name, resumes = false } = spec;
  return withStream(body, { ...before, name, resumes, attempts, run: body.run, isDone: false });
};

const fillerOf = (body: BodyState, name: string): OpenEffect | undefined =>
  body.open.find((effect) => effect.stream === name);

interface Filled {
  readonly row: CallIn<"running">;
  readonly stream: StreamRow;
  readonly effect: OpenEffect;
}

/** The stream that a running producer reports of: in its own attempt and run, from where the record ends. */
const filled = (draft: Draft, event: EventOf<StreamEvent["type"]>): Filled | Rejection => {
  const row = inPhase(draft, event.call, "running");
  if (isRejection(row)) return row;
  const stream = named(row.body.streams, event.stream);
  const effect = fillerOf(row.body, event.stream);
  const of = `call \`${event.call}\`: stream \`${event.stream}\``;
  if (stream === undefined || effect === undefined || stream.isDone)
    return reject("stream_unknown", `${of}: no step of its body fills it now`);
  const isNew = event.type === "stream.reset";
  if (!isNew && stream.run !== row.body.run)
    return reject(
      "stale_stream",
      `${of}: its producer is of run ${stream.run}, and has not begun in run ${row.body.run}`,
    );
  const expected = stream.attempts.length + Number(isNew);
  if (event.attempt !== expected || event.from !== stream.chunks || event.after !== stream.last) {
    const wanted = `attempt ${expected} from chunk ${stream.chunks}, after event ${stream.last}`;
    return reject("stale_stream", `${of}: expected ${wanted}, found ${event.attempt}, ${event.from}, ${event.after}`);
  }
  return { row, stream, effect };
};

const problemOfRoom = ({ options }: Draft, row: StreamRow, more: Pick<StreamRow, "chunks" | "bytes">) => {
  const { max_stream_chunks: maxChunks, max_stream_bytes: maxBytes } = options;
  if (row.chunks + more.chunks <= maxChunks && row.bytes + more.bytes <= maxBytes) return undefined;
  const found = `${row.chunks} chunks of ${row.bytes} bytes, and ${more.chunks} of ${more.bytes} more`;
  return reject(
    "stream_full",
    `stream \`${row.name}\`: at most ${maxChunks} chunks of ${maxBytes} bytes, found ${found}`,
  );
};

const put = (draft: Draft, row: CallIn<"running">, stream: StreamRow, isProgress: boolean): void => {
  const body = isProgress ? recorded(draft, row.body, row.body.open) : row.body;
  putCall(draft, runningRow(row, { ...body, streams: withStream(body, stream) }, row), row);
};

/** Chunks are progress of a body only where their producer goes on after them: any other says them again after a crash. */
export const onStreamRecorded = (draft: Draft, event: EventOf<"stream.recorded">): Rejection | undefined => {
  const found = filled(draft, event);
  if ("type" in found) return found;
  const { row, stream, effect } = found;
  const { chunks, last = false } = event;
  const bytes = chunks.reduce<number>((sum, chunk) => sum + bytesOf(chunk), 0);
  const full = problemOfRoom(draft, stream, { chunks: chunks.length, bytes });
  if (full !== undefined) return full;
  const group = { seq: draft.seq, from: stream.chunks };
  const groups = chunks.length === 0 ? stream.groups : [...stream.groups, group];
  const grown = { chunks: stream.chunks + chunks.length, bytes: stream.bytes + bytes };
  put(draft, row, { ...stream, ...grown, groups, last: draft.seq, isDone: last }, stream.resumes);
  const { attempt, run } = row.body;
  draft.emit({ type: "stream.answer", call: row.call.ref, attempt, run, key: effect.key });
  return undefined;
};

export const onStreamReset = (draft: Draft, event: EventOf<"stream.reset">): Rejection | undefined => {
  const found = filled(draft, event);
  if ("type" in found) return found;
  const { row, stream } = found;
  const from = stream.chunks;
  const keep = stream.resumes ? (stream.attempts.at(-1)?.keep ?? from) : from;
  if ((event.keep ?? event.from) !== keep)
    return reject("stale_stream", `stream \`${event.stream}\`: expected to keep chunk ${keep}, found ${event.keep}`);
  const attempts = [...stream.attempts, { seq: draft.seq, from, keep }];
  put(draft, row, { ...stream, attempts, last: draft.seq, run: row.body.run }, false);
  return undefined;
};

// The invariants, one function each.

const firstStream = (state: State, broken: (row: StreamRow) => string | undefined): string | undefined =>
  firstBroken(
    state.calls.rows(),
    ({ call }) => `call \`${call.ref}\``,
    (row) => firstBroken(bodyOf(row)?.streams ?? [], ({ name }) => `stream \`${name}\``, broken),
  );

interface Begun {
  readonly seq: number;
  readonly from: number;
}

const isOrdered = (all: readonly Begun[], isNext: (before: number, from: number) => boolean): boolean =>
  all.every(({ seq, from }, i) => {
    const before = all[i - 1];
    return before === undefined || (seq > before.seq && isNext(before.from, from));
  });

export const checkG1: Check = (state) =>
  firstStream(state, ({ groups, chunks }) => {
    const isFirst = groups[0] === undefined ? chunks === 0 : groups[0].from === 0;
    const isIn = groups.every(({ seq, from }) => seq <= state.seq && from < chunks);
    const isSound = isFirst && isIn && isOrdered(groups, (before, from) => from > before);
    return isSound ? undefined : `G1: ${groups.length} groups of ${chunks} chunks do not follow each other`;
  });

/** The chunk at which a record stood when an event came. */
const chunksAt = ({ groups, chunks }: StreamRow, seq: number): number =>
  groups.find((group) => group.seq > seq)?.from ?? chunks;

export const checkG2: Check = (state) =>
  firstStream(state, (row) => {
    const { attempts } = row;
    const isPlaced = attempts.every(({ seq, from, keep }) => from === chunksAt(row, seq) && keep <= from);
    const isSound = attempts.length > 0 && isPlaced && isOrdered(attempts, (before, from) => from >= before);
    return isSound ? undefined : `G2: ${attempts.length} attempts do not follow each other`;
  });

export const checkG3: Check = (state) =>
  firstBroken(
    state.calls.rows(),
    ({ call }) => `call \`${call.ref}\``,
    (row) => {
      const { open = [], streams = [] } = bodyOf(row) ?? {};
      const names = open.flatMap(({ kind, stream }) => (stream === undefined ? [] : [kind === "step" ? stream : ""]));
      const isSound = new Set(names).size === names.length && names.every((name) => named(streams, name) !== undefined);
      return isSound ? undefined : `G3: its open steps stream to ${names.map((name) => `\`${name}\``).join(", ")}`;
    },
  );

const hasGrown = (was: StreamRow, is: StreamRow | undefined, { max_stream_chunks, max_stream_bytes }: Options) => {
  if (is === undefined || is.chunks < was.chunks || is.attempts.length < was.attempts.length) return false;
  if (!was.groups.every(({ seq, from }, i) => is.groups[i]?.seq === seq && is.groups[i]?.from === from)) return false;
  const hasRoom = is.chunks <= max_stream_chunks && is.bytes <= max_stream_bytes;
  return is.chunks === was.chunks || hasRoom;
};
type Options = State["scope"]["options"];

export const checkG4Change: ChangeCheck = (before, after) =>
  firstBroken(
    after.calls.rows(),
    ({ call }) => `call \`${call.ref}\``,
    (row) => {
      const earlier = before.calls.at(row.call.ref);
      const [was, is] = [earlier && bodyOf(earlier), bodyOf(row)];
      if (earlier === row || earlier?.call.born !== row.call.born || is === undefined) return undefined;
      const lost = was?.streams.find((one) => !hasGrown(one, named(is.streams, one.name), after.scope.options));
      return lost === undefined ? undefined : `G4: stream \`${lost.name}\` has lost what was on record, or has no room`;
    },
  );

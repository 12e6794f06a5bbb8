/**
 * What a body was handed of its streams, read from the record: one part for each group, in its place in the log. A
 * producer that was lost begins anew, and the body with it, unless the producer goes on where it stood:
 *
 *   resumes         all parts, of all attempts
 *   begins anew     the parts of its last attempt; those of an earlier one only where the body asked for something after the
 *                   first of them: that may have followed from it, and has to happen again. Then the body is told of the
 *                   new beginning in its place.
 */
import type { BodyState, StreamGroup, StreamRow } from "@pawl/sansio-core/driver";
import { type Json, isObject } from "@pawl/tool-value";
import type { Cause } from "../scope/runner.ts";
import type { Answer } from "./record.ts";
import type { Recorded } from "./replay.ts";

export interface RecordedStream {
  /** Chunks of the attempts that go on from each other. */
  readonly chunks: readonly Json[];
  /** The producer is about to begin anew, and the body may have gone on with what it said. */
  readonly isActedOn: boolean;
}

interface Seen {
  readonly key: string;
  readonly row: StreamRow;
  readonly requested: number;
  readonly settled: number | undefined;
}

const prefix = "durable-stream:";

/** Returns the key of the step that fills a stream. */
export const streamKey = (name: string): string => prefix + name;

type Events = ReadonlyMap<number, Cause>;
type At = Pick<Cause, "seq" | "at">;

/** Parts stand behind all answers of their event. */
const lastIndex = Number.MAX_SAFE_INTEGER;

const partOf = (key: string, { seq, at }: At, part: NonNullable<Answer["part"]>): Answer => ({
  key: `${key} @${seq}`,
  seq,
  index: lastIndex,
  at,
  result: { status: "ok", value: null },
  winner: undefined,
  part,
});

/** Chunks that went on record with an event. */
export const saidOf = (key: string, cause: Cause): Answer | undefined =>
  cause.event.type === "stream.recorded"
    ? partOf(key, cause, { type: "said", of: key, chunks: cause.event.chunks })
    : undefined;

export const restartOf = (key: string, at: At): Answer => partOf(key, at, { type: "restarted", of: key });

/** Finds the streams of a body, by the keys of their steps. One that an earlier attempt has is handed over whole. */
const streamsOf = ({ streams, settled, open }: BodyState, effects: readonly Recorded[]): readonly Seen[] => {
  if (streams.length === 0) return [];
  return [...settled.keys(), ...open.map(({ key }) => key)].flatMap((key): Seen[] => {
    const row = streams.find(({ name }) => streamKey(name) === key);
    const own = effects.find((effect) => effect.key === key);
    return row === undefined ? [] : [{ key, row, requested: own?.requested ?? Infinity, settled: own?.settled?.seq }];
  });
};

const chunksIn = (events: Events, { seq }: StreamGroup): readonly Json[] => {
  const event = events.get(seq)?.event;
  return event?.type === "stream.recorded" ? event.chunks : [];
};

/** The groups of one attempt of the producer, with the event that began the next. */
interface Said {
  readonly groups: readonly StreamGroup[];
  readonly next: number | undefined;
}

const saidIn = ({ row, requested, settled = Infinity }: Seen): readonly Said[] => {
  const begun = row.attempts.map(({ seq }) => seq).filter((seq) => seq >= requested && seq < settled);
  return begun.map((seq, i) => {
    const next = begun[i + 1];
    const isIn = (group: StreamGroup): boolean => group.seq > seq && group.seq < Math.min(next ?? settled, settled);
    return { groups: row.groups.filter(isIn), next };
  });
};

interface Handed {
  readonly parts: readonly Answer[];
  readonly isActedOn: boolean;
}

const handed = (stream: Seen, effects: readonly Recorded[], events: Events): Handed => {
  const { key, row, settled } = stream;
  const parts: Answer[] = [];
  let isActedOn = false;
  for (const { groups, next } of saidIn(stream)) {
    const [first] = groups;
    const isLast = next === undefined && settled !== undefined;
    const isActed = effects.some(({ requested }) => first && requested > first.seq && requested < (next ?? Infinity));
    if (!isLast && !isActed && !row.resumes) continue;
    parts.push(...groups.flatMap(({ seq }) => saidOf(key, { seq, ...at(events, seq) }) ?? []));
    if (isLast || row.resumes) continue;
    if (next === undefined) isActedOn = true;
    else parts.push(restartOf(key, { seq: next, at: 0 }));
  }
  return { parts, isActedOn };
};

const at = (events: Events, seq: number): Pick<Cause, "at" | "event"> =>
  events.get(seq) ?? { at: 0, event: { type: "clock.ticked" } };

/** The chunks that a settled stream came to: its value names the first, and the one behind the last. */
const wholeOf = ({ row }: Seen, { result }: Answer, events: Events): readonly Json[] => {
  const value = result.status === "ok" && isObject(result.value) ? result.value : {};
  const { from = 0, to = 0 } = value as { readonly from?: number; readonly to?: number };
  const groups = row.groups.filter((group) => group.from >= from && group.from < to);
  return groups.flatMap((group) => chunksIn(events, group)).slice(0, to - from);
};

export interface ReadStreams {
  readonly streams: ReadonlyMap<string, RecordedStream>;
  readonly effects: readonly Recorded[];
  readonly answers: readonly Answer[];
}

/** Puts the parts of streams between the requests and answers of a run. */
export const withStreams = (
  body: BodyState,
  effects: readonly Recorded[],
  answers: readonly Answer[],
  events: Events,
): ReadStreams => {
  const seen = streamsOf(body, effects);
  const streams = new Map<string, RecordedStream>();
  const all = new Map(answers.map((answer) => [answer.key, answer]));
  const partsOf = new Map<string, readonly Answer[]>();
  for (const stream of seen) {
    const { key } = stream;
    const { parts, isActedOn } = handed(stream, effects, events);
    const chunks = parts.flatMap(({ part }) => (part?.type === "said" ? part.chunks : []));
    streams.set(key, { chunks, isActedOn });
    partsOf.set(key, parts);
    for (const part of parts) all.set(part.key, part);
    const answer = all.get(key);
    if (answer !== undefined) all.set(key, { ...answer, chunks: wholeOf(stream, answer, events) });
  }
  const withParts = effects.map((effect) => ({ ...effect, parts: partsOf.get(effect.key) ?? [] }));
  return { streams, effects: seen.length === 0 ? effects : withParts, answers: [...all.values()] };
};

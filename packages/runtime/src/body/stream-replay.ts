/**
 * Reads from the record which chunks of its streams a body was handed: one part for each group, in its place in the log. A
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

interface RecordedStream {
  /** Chunks of the attempts that go on from each other. */
  readonly chunks: readonly Json[];
  /** The producer is about to begin anew, and the body may have gone on with what it said. */
  readonly isActedOn: boolean;
  readonly parts: readonly Answer[];
}

/** Holds what is on record of the streams of a run, by the keys of their steps. */
export class RecordedStreams {
  readonly #streams: ReadonlyMap<string, RecordedStream>;
  readonly #owners: ReadonlyMap<string, string>;

  constructor(streams: ReadonlyMap<string, RecordedStream> = new Map()) {
    this.#streams = streams;
    this.#owners = new Map([...streams].flatMap(([key, { parts }]) => parts.map((part) => [part.key, key] as const)));
  }

  /** Returns the key whose request an answer is for: a part of an answer has a key of its own. */
  ownerOf(key: string): string {
    return this.#owners.get(key) ?? key;
  }

  parts(key: string): readonly Answer[] {
    return this.#streams.get(key)?.parts ?? [];
  }

  /** Returns what a producer said that goes on now. */
  said(key: string): readonly Json[] {
    return this.#streams.get(key)?.chunks ?? [];
  }

  /** Tells a body that a producer has begun anew with this event, where something can have followed from what it said before. */
  restart(body: { enqueueAnswer(answer: Answer): void }, key: string, seq: number): void {
    if (this.#streams.get(key)?.isActedOn === true) body.enqueueAnswer(restartOf(key, { seq, at: 0 }));
  }
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

const restartOf = (key: string, at: At): Answer => partOf(key, at, { type: "restarted", of: key });

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

const handed = (stream: Seen, effects: readonly Recorded[], events: Events): RecordedStream => {
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
  const chunks = parts.flatMap(({ part }) => (part?.type === "said" ? part.chunks : []));
  return { chunks, isActedOn, parts };
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
  readonly streams: RecordedStreams;
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
  const seen = new Map(streamsOf(body, effects).map((stream) => [stream.key, stream]));
  const streams = new RecordedStreams(
    new Map([...seen].map(([key, stream]) => [key, handed(stream, effects, events)] as const)),
  );
  const whole = answers.map((answer) => {
    const stream = seen.get(answer.key);
    return stream === undefined ? answer : { ...answer, chunks: wholeOf(stream, answer, events) };
  });
  return {
    streams,
    effects: seen.size === 0 ? effects : effects.map((effect) => ({ ...effect, parts: streams.parts(effect.key) })),
    answers: seen.size === 0 ? answers : [...whole, ...[...seen.keys()].flatMap((key) => streams.parts(key))],
  };
};

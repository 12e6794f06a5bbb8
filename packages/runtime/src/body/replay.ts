/**
 * The record that a run is replayed from, and its order. The row of the call says where in the log each value stands, and the
 * values are read from the events there. The requests and answers of the attempt, sorted by their places in the log, are
 * a list of marks; a cursor moves over it as they happen again. An answer is held until the cursor stands before it.
 *
 * An attempt reuses what an earlier one was answered. A body that is tried again asks for the same as before, and
 * gets the answers that are on record. It must take the branches that it took: `Promise.all`, races and `ctx.now()` have
 * to come out as they did, or it asks for something else.
 *
 *   attempt 1   asks a, asks b │ b settles ─▶ asks c │ c settles │ a settles
 *   attempt 2   asks a, asks b │ reuses b  ─▶ asks c │ reuses c  │ reuses a
 *
 * So of all that the body waits for, the answer that settled first is reused first, and the next one only when the body
 * has heard it and has asked for what follows. Each reuse is an event (`effect.reused`) with a place of its own in the log
 * of this attempt, by which later runs of it are replayed; the time that the body reads stays that of the first answer.
 */
import { type Patches, type SettledEffect, bodyOf, readsFirstAnswers, refusalIn } from "@pawl/sansio-core/driver";
import type { CallRef, State } from "@pawl/sansio-core";
import { resultIn } from "./recorded-result.ts";
import type { Answer, Request } from "./record.ts";
import { RecordedStreams, withStreams } from "./stream-replay.ts";
import { isMarked } from "../journal/blob.ts";
import { type ReadLines, eventsIn, linesAt, Quarantined } from "../scope/history.ts";
import type { Cause, ScopeRunner } from "../scope/runner.ts";
import type { Values } from "../scope/large-values.ts";

/** A place in the log: an event, and an effect that it settles. */
export interface Place {
  readonly seq: number;
  readonly index: number;
}

/** Says if there is something to deliver: `row` means that one body waits for one answer at a time, and has the next. */
export type News = "none" | "some" | "row";

/** An effect of this attempt, as the log has it. */
export interface Recorded {
  readonly key: string;
  readonly requested: number;
  readonly settled?: Place;
  /** For a stream: the parts of its answer that the body was handed before. */
  readonly parts?: readonly (Place & { readonly key: string })[];
}

interface Mark extends Place {
  readonly key: string;
  readonly type: "request" | "answer";
}

export const isEarlier = (a: Place, b: Place): boolean => (a.seq === b.seq ? a.index < b.index : a.seq < b.seq);

/** Puts something among others, all in the order of their places. */
export const insert = <P extends Place>(queue: P[], one: P): void => {
  let at = queue.length;
  while (at > 0 && isEarlier(one, queue[at - 1] as P)) at -= 1;
  if (at === queue.length) queue.push(one);
  else queue.splice(at, 0, one);
};

const byPlace = (a: Mark, b: Mark): number => a.seq - b.seq || a.index - b.index;

/** Sorts the marks. A request stands before all that its own event settled. */
const marksOf = (effects: readonly Recorded[]): readonly Mark[] => {
  const marks: Mark[] = [];
  for (const { key, requested, settled, parts = [] } of effects) {
    marks.push({ key, type: "request", seq: requested, index: -1 });
    for (const { key: part, seq, index } of parts) marks.push({ key: part, type: "answer", seq, index });
    if (settled !== undefined) marks.push({ key, type: "answer", seq: settled.seq, index: settled.index });
  }
  return marks.toSorted(byPlace);
};

const recordedOf = (key: string, { settled: seq, index }: SettledEffect, requested: number): Recorded => ({
  key,
  requested,
  settled: { seq, index },
});

export class ReplayOrder {
  readonly #marks: readonly Mark[];
  /** Keys of recorded requests that the body has not made yet. */
  readonly #unmade: Set<string>;
  /** True if each request had its answer before the next was made. */
  readonly isRow: boolean;
  #next = 0;

  constructor(recorded: readonly Recorded[]) {
    this.#marks = marksOf(recorded);
    this.isRow = this.#marks.every(({ key }, i) => i % 2 === 0 || key === this.#marks[i - 1]?.key);
    this.#unmade = new Set(recorded.map(({ key }) => key));
  }

  /** Notes that the body has made the request of this key. */
  make(key: string): void {
    this.#unmade.delete(key);
  }

  /** True while a recorded request has not been made yet; until then nothing unrecorded may be asked for. */
  get isReplaying(): boolean {
    return this.#unmade.size > 0;
  }

  /** Returns the first recorded request that has not been made yet. */
  get missing(): string | undefined {
    return this.#marks.find(({ type, key }) => type === "request" && this.#unmade.has(key))?.key;
  }

  /** Lists the keys of what was asked for before a request, and was answered after it, if at all. */
  openAt(request: string): readonly string[] {
    const at = this.#marks.findIndex(({ type, key }) => type === "request" && key === request);
    const before = this.#marks.slice(0, Math.max(at, 0));
    const answered = new Set(before.filter(({ type }) => type === "answer").map(({ key }) => key));
    return before.filter(({ type, key }) => type === "request" && !answered.has(key)).map(({ key }) => key);
  }

  /** Moves the cursor over requests that have been made, and returns the mark where it stops. */
  get #mark(): Mark | undefined {
    let mark = this.#marks[this.#next];
    while (mark?.type === "request" && !this.#unmade.has(mark.key)) {
      this.#next += 1;
      mark = this.#marks[this.#next];
    }
    return mark;
  }

  /** Returns the place of the next mark. */
  get next(): Place | undefined {
    return this.#mark;
  }

  /** Returns the key whose answer is due: all that stands before it has happened again. */
  get due(): string | undefined {
    const mark = this.#mark;
    return mark?.type === "answer" ? mark.key : undefined;
  }

  /** Moves the cursor past the answer that was due. */
  delivered(): void {
    this.#next += 1;
  }

  /** True once all that was recorded has happened again; from then on answers come as the log grows. */
  get isLive(): boolean {
    return this.#mark === undefined;
  }
}

export interface RecordedRun {
  /** The scope time at which the life began, or its call. */
  readonly at: number;
  /** Answers of earlier attempts are reused in the order in which they settled; without, as they are asked for. */
  readonly keepsOrder: boolean;
  readonly effects: readonly Recorded[];
  readonly answers: readonly Answer[];
  /** The keys of all that this life has on record. */
  readonly keys: readonly string[];
  /** The answers of `ctx.patched`. */
  readonly patches: Patches;
  readonly streams: RecordedStreams;
}

export interface RecordedRunPort {
  readonly runner: ScopeRunner;
  readonly readLines: ReadLines;
  readonly values: Values;
}

const causeAt = ({ scope }: State, events: ReadonlyMap<number, Cause>, seq: number): Cause => {
  const cause = events.get(seq);
  if (cause === undefined) throw new Quarantined(scope.id, `event ${seq} is not in the log`);
  return cause;
};

/** Reads one event of the log, its large values inlined. */
export const shownEventAt = async (
  { runner, readLines, values }: RecordedRunPort,
  seq: number,
): Promise<Cause["event"]> => {
  const { state } = runner;
  const events = eventsIn(state.scope.id, await linesAt(readLines, [seq]));
  return values.of(causeAt(state, events, seq).event);
};

/**
 * Returns where this attempt asked for an effect. A step that may run only once, and that an earlier attempt left open,
 * counts as asked for where its outcome was found to be unknown.
 */
const askedAt = (effect: SettledEffect, attempt: number, events: ReadonlyMap<number, Cause>): number => {
  const { once, status, requested, settled } = effect;
  if (!once || status === "ok") return requested;
  const asked = events.get(requested)?.event;
  return asked !== undefined && "attempt" in asked && asked.attempt === attempt ? requested : settled;
};

/** Returns the events that a re-run reads of an effect: for its value, its time, and where it was asked for. */
const seqsOf = ({ value, first, settled, once, requested }: SettledEffect): readonly number[] => {
  const seqs = [value, first ?? settled];
  return once ? [...seqs, requested] : seqs;
};

const noStreams = new RecordedStreams();

/** Reads what earlier runs of a call did, up to this run of an attempt. */
export const recordedRunOf = async (port: RecordedRunPort, call: CallRef, attempt: number): Promise<RecordedRun> => {
  const { runner, readLines, values } = port;
  const row = runner.state.calls.at(call);
  const body = row === undefined ? undefined : bodyOf(row);
  const nothing = { effects: [], answers: [], keys: [], streams: noStreams };
  if (body === undefined) return { at: runner.state.at, keepsOrder: false, patches: {}, ...nothing };
  const { patches } = body;
  const keepsOrder = readsFirstAnswers(runner.state.scope.protocol, body);
  const at = body.life.at ?? body.startedAt;
  const settled = [...body.settled];
  if (settled.length === 0 && body.open.length === 0) return { at, keepsOrder, patches, ...nothing };
  const ofEffects = settled.flatMap(([, effect]) => seqsOf(effect));
  const seqs = [...ofEffects, ...body.streams.flatMap(({ groups }) => groups.map(({ seq }) => seq))];
  await runner.whenDurable(seqs.reduce((a, b) => Math.max(a, b), 0)); // An event that was applied just now is not in the log yet.
  const lines = await linesAt(readLines, seqs);
  const { state } = runner;
  const events = eventsIn(state.scope.id, lines);
  const refused = refusalIn(state.scope.protocol, body.life);
  const answers = settled.map(([key, effect]): Answer => {
    const { settled: seq, index, winner } = effect;
    const result = resultIn(causeAt(state, events, effect.value).event, key, effect, state.process, refused);
    return { key, seq, index, at: causeAt(state, events, effect.first ?? seq).at, result, winner };
  });
  const own = settled
    .filter(([, effect]) => effect.attempt === attempt)
    .map(([key, effect]) => recordedOf(key, effect, askedAt(effect, attempt, events)));
  const open = body.open
    .filter((effect) => effect.attempt === attempt)
    .map(({ key, seq }) => ({ key, requested: seq }));
  const mayRefer = state.process !== undefined || lines.some(({ line }) => isMarked(line));
  const inlined = mayRefer ? await values.of(answers) : answers;
  const recorded = withStreams(body, [...own, ...open], inlined, events);
  const keys = [...answers, ...body.open].map(({ key }) => key);
  return { at, keepsOrder, ...recorded, keys, patches };
};

/** Requests that an earlier attempt was answered, until their answers take their places in this one. */
export class ReuseQueue {
  readonly #waiting: (Request & Place)[] = [];
  /** The key whose answer is on its way into the log. */
  #underWay: string | undefined;

  add(request: Request, { settled: seq, index }: SettledEffect): void {
    insert(this.#waiting, { ...request, seq, index });
  }

  /** Returns the request whose answer came first. */
  get first(): Request | undefined {
    return this.#waiting[0];
  }

  get isReady(): boolean {
    return this.#waiting.length > 0 && this.#underWay === undefined;
  }

  /** Takes out the request whose answer is reused next; undefined while another is on its way. */
  next(): Request | undefined {
    if (!this.isReady) return undefined;
    const next = this.#waiting.shift();
    this.#underWay = next?.key;
    return next;
  }

  delivered(key: string): void {
    if (this.#underWay === key) this.#underWay = undefined;
  }
}

/**
 * The order in which a run is replayed. The requests and answers of its attempt, sorted by their places in the log, are a
 * list of marks; a cursor moves over it as they happen again. An answer is held until the cursor stands before it.
 *
 * What an earlier attempt was answered is reused in the order of that attempt, one answer at a time: it takes its place
 * in the log only when the one before it was delivered, and the body has asked for what follows from that.
 */
import type { SettledEffect } from "@pawl/sansio-core/driver";

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
  queue.splice(at, 0, one);
};

const byPlace = (a: Mark, b: Mark): number => a.seq - b.seq || a.index - b.index;

/** Sorts the marks. A request stands before all that its own event settled. */
const marksOf = (effects: readonly Recorded[]): readonly Mark[] => {
  const marks: Mark[] = [];
  for (const { key, requested, settled } of effects) {
    marks.push({ key, type: "request", seq: requested, index: -1 });
    if (settled !== undefined) marks.push({ key, type: "answer", seq: settled.seq, index: settled.index });
  }
  return marks.toSorted(byPlace);
};

export const recordedOf = (key: string, effect: SettledEffect): Recorded => ({
  key,
  requested: effect.requested,
  settled: { seq: effect.settled, index: effect.index },
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

interface Reusable extends Place {
  readonly key: string;
  /** The request, as it is shown where the log expects another. */
  readonly asked: string;
}

/** Requests that an earlier attempt was answered, until their answers take their places in this one. */
export class ReuseQueue {
  readonly #waiting: Reusable[] = [];
  /** The key whose answer is on its way into the log. */
  #underWay: string | undefined;

  add(reusable: Reusable): void {
    insert(this.#waiting, reusable);
  }

  /** Returns the request whose answer came first. */
  get first(): Reusable | undefined {
    return this.#waiting[0];
  }

  get isReady(): boolean {
    return this.#waiting.length > 0 && this.#underWay === undefined;
  }

  /** Takes out the key whose answer is reused next. */
  next(): string | undefined {
    if (this.isReady) this.#underWay = this.#waiting.shift()?.key;
    return this.#underWay;
  }

  delivered(key: string): void {
    if (this.#underWay === key) this.#underWay = undefined;
  }
}

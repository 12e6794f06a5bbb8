/**
 * The order in which a body hears. Keys decide which record answers; the log decides when. In a re-run an answer is
 * held until the requests and answers of this attempt that stand before it in the log have been made and delivered; so
 * a race takes the branch that it took.
 */
import type { SettledEffect } from "@pawl/sansio-core/driver";

/** Where something stands in the log. */
export interface Place {
  readonly seq: number;
  readonly index: number;
}

/** What there is to hand out: `row` is the one answer that one body waits for, of many that it hears one by one. */
export type News = "none" | "some" | "row";

/** What the log says of one effect of this attempt. */
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

const byPlace = (a: Mark, b: Mark): number => a.seq - b.seq || a.index - b.index;

/** A request stands before all that its own event settled. */
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
  /** Recorded requests that the body has not made yet. */
  readonly #unmade: Set<string>;
  /** Whether it asked for one thing after the other: each had its answer before the next was asked for. */
  readonly isRow: boolean;
  #next = 0;

  constructor(recorded: readonly Recorded[]) {
    this.#marks = marksOf(recorded);
    this.isRow = this.#marks.every(({ key }, i) => i % 2 === 0 || key === this.#marks[i - 1]?.key);
    this.#unmade = new Set(recorded.map(({ key }) => key));
  }

  /** The body has made the request of this key. */
  make(key: string): void {
    this.#unmade.delete(key);
  }

  /** Whether a recorded request has not been made yet; then nothing unrecorded may be asked. */
  get isReplaying(): boolean {
    return this.#unmade.size > 0;
  }

  /** The first recorded request that has not been made yet. */
  get missing(): string | undefined {
    return this.#marks.find(({ type, key }) => type === "request" && this.#unmade.has(key))?.key;
  }

  /** The next thing that has not happened again. */
  get #mark(): Mark | undefined {
    let mark = this.#marks[this.#next];
    while (mark?.type === "request" && !this.#unmade.has(mark.key)) {
      this.#next += 1;
      mark = this.#marks[this.#next];
    }
    return mark;
  }

  /** Where it stands. */
  get next(): Place | undefined {
    return this.#mark;
  }

  /** The key whose recorded answer comes next, if all that stands before it has happened. */
  get due(): string | undefined {
    const mark = this.#mark;
    return mark?.type === "answer" ? mark.key : undefined;
  }

  /** The answer that was due has been delivered. */
  delivered(): void {
    this.#next += 1;
  }

  /** Whether all that was recorded has happened again; from here on the body hears as the log grows. */
  get isLive(): boolean {
    return this.#mark === undefined;
  }
}

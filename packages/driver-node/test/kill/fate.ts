/** How a process of the tests ends: at a named point, when it comes there for the n-th time. */
import { appendFileSync } from "node:fs";
import type { Journal } from "@pawl/runtime";

export const points = [
  "after_claim",
  "before_append",
  "in_append",
  "after_append",
  "after_effect",
  "in_snapshot",
  "after_snapshot",
] as const;
/** Of hosts that shorten their logs. */
const retentionPoints = ["in_retention", "after_retention"] as const;
export type Point = (typeof points)[number] | (typeof retentionPoints)[number];

export interface Fate {
  readonly point: Point;
  readonly nth: number;
  /** `SIGSTOP`: the process stands still there until somebody wakes it. */
  readonly signal: "SIGKILL" | "SIGSTOP";
}

/** Meets a fate; what was met stands in a file before it happens. */
export class Fates {
  readonly #fate: Fate | undefined;
  readonly #file: string;
  #count = 0;

  constructor(fate: Fate | undefined, file: string) {
    this.#fate = fate;
    this.#file = file;
  }

  /** A moment of up to so many milliseconds passes first, in which another thread gets on with its work. */
  at(point: Point, ms = 0): void {
    if (this.#fate?.point !== point) return;
    this.#count += 1;
    if (this.#count !== this.#fate.nth) return;
    const until = performance.now() + Math.random() * ms;
    while (performance.now() < until);
    appendFileSync(this.#file, `${point}\n`);
    process.kill(process.pid, this.#fate.signal);
  }
}

/** How long a commit in a thread of its own may have been under way. */
const measureCommitMs = 3;

/** A journal whose process may end while it is used. */
export const fatedJournal = (journal: Journal, fates: Fates): Journal => {
  const within = async <A>(asked: Promise<A>, during: Point, after: Point): Promise<A> => {
    fates.at(during, measureCommitMs);
    const answer = await asked;
    fates.at(after);
    return answer;
  };
  return {
    ...journal,
    claim: async (...asked) => {
      const claim = await journal.claim(...asked);
      fates.at("after_claim");
      return claim;
    },
    appendAll: (appends) => {
      fates.at("before_append");
      return within(journal.appendAll(appends), "in_append", "after_append");
    },
    snapshot: (...asked) => within(journal.snapshot(...asked), "in_snapshot", "after_snapshot"),
    retain: (...asked) => within(journal.retain(...asked), "in_retention", "after_retention"),
  };
};

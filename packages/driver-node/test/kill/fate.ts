/** Named points at which a test process ends, on the n-th visit. */
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
/** Points of hosts that shorten their logs. */
const retentionPoints = ["in_retention", "after_retention"] as const;
export type Point = (typeof points)[number] | (typeof retentionPoints)[number];

export interface Fate {
  readonly point: Point;
  readonly nth: number;
  /** `SIGSTOP`: the process is stopped there until somebody wakes it. */
  readonly signal: "SIGKILL" | "SIGSTOP";
}

/** Kills the process at a point. Writes the point to a file first. */
export class Fates {
  readonly #fate: Fate | undefined;
  readonly #file: string;
  #count = 0;

  constructor(fate: Fate | undefined, file: string) {
    this.#fate = fate;
    this.#file = file;
  }

  /** Ends the process here, after a pause in which another thread continues. */
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

/** Time within which a commit in its own thread is under way. */
const commitMs = 3;

/** A journal whose process may end while it is used. */
export const fatedJournal = (journal: Journal, fates: Fates): Journal => {
  const within = async <A>(asked: Promise<A>, during: Point, after: Point): Promise<A> => {
    fates.at(during, commitMs);
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

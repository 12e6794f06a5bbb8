/** Named points at which a host with background runs is killed, on the n-th visit. */
import { appendFileSync } from "node:fs";
import type { Journal } from "@pawl/runtime";
import type { Append } from "@pawl/runtime/driver";

/** Appends, named by an event that they contain. */
const appends = [
  "run.requested",
  "permit.answered",
  "run.reported",
  "call.settled",
  "artifacts.written",
  "session.told",
  "task.cancel_requested",
  "message.received",
  "schedule.requested",
  "schedule.planned",
  "probe.answered",
] as const;
const others = ["renewal", "fire", "artifacts", "tell", "step", "probe", "start"] as const;
const points = [...appends, ...others] as const;

export interface Fate {
  readonly point: (typeof points)[number];
  readonly when: "before" | "after";
  readonly nth: number;
}

/** Each point, before and after. */
export const places: readonly Omit<Fate, "nth">[] = points.flatMap((point) => [
  { point, when: "before" },
  { point, when: "after" },
]);

export const describeFate = ({ point, when, nth }: Fate): string => `${when} ${point}, ${nth}`;

/** Kills the process at a point. Writes the point to a file first. */
export class Fates {
  readonly #fate: Fate | undefined;
  readonly #file: string;
  #count = 0;
  #isFiring = false;

  constructor(fate: Fate | undefined, file: string) {
    this.#fate = fate;
    this.#file = file;
  }

  at(point: Fate["point"], when: Fate["when"]): void {
    if (this.#fate?.point !== point || this.#fate.when !== when) return;
    this.#count += 1;
    if (this.#count !== this.#fate.nth) return;
    appendFileSync(this.#file, `${when} ${point}\n`);
    process.kill(process.pid, "SIGKILL");
  }

  /** Notes that a schedule fires; the next append contains the event. */
  fires(): void {
    this.at("fire", "before");
    this.#isFiring = true;
  }

  hasFired(): boolean {
    const hasFired = this.#isFiring;
    this.#isFiring = false;
    return hasFired;
  }

  /** Runs an outside effect or a store operation between two points. */
  async around<A>(point: Fate["point"], act: () => Promise<A>): Promise<A> {
    this.at(point, "before");
    const done = await act();
    this.at(point, "after");
    return done;
  }
}

const held = (all: readonly Append[]): readonly (typeof appends)[number][] =>
  appends.filter((type) =>
    all.some(({ lines }) => lines.some(({ line }) => line.includes(`"event":{"type":"${type}"`))),
  );

/** A journal whose process may die before an append or before its acknowledgement. */
export const fatedJournal = (journal: Journal, fates: Fates): Journal => ({
  ...journal,
  renew: (instance) => fates.around("renewal", () => journal.renew(instance)),
  appendAll: async (all) => {
    const types: readonly Fate["point"][] = fates.hasFired() ? [...held(all), "fire"] : held(all);
    for (const type of held(all)) fates.at(type, "before");
    const results = await journal.appendAll(all);
    for (const type of types) fates.at(type, "after");
    return results;
  },
});

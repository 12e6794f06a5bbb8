/**
 * Sees that deadlines are kept: the event that a deadline asks for is stepped soon after it is due, as long as the process
 * that opened the scope lives, and its store takes what it is given.
 */
import { type State, nextDeadline } from "@pawl/sansio-core";
import type { Fate } from "./moment.ts";
import { slowMs } from "./faulty-journal.ts";

/** How long a scope may wait for slow commits: one that is under way, and the one behind it. */
const slowestMs = 2 * slowMs;
/** How late it may be. */
const lateMs = 100;

interface Kept {
  readonly owner: string;
  /** From when on; what is due before counts as due then. */
  readonly since: number;
}

export class Punctuality {
  readonly #kept = new Map<string, Kept>();
  /** Until when a process may wait for its store. */
  readonly #slowUntil = new Map<string, number>();

  /** Something befell a process: it waits for a slow store, or has lost what it does not open anew. */
  befall(owner: string, fate: Fate, now: number): void {
    if (fate === "live" || fate === "heard_twice") return;
    if (fate === "slow") return void this.#slowUntil.set(owner, now + slowestMs);
    for (const [scope, kept] of this.#kept) if (kept.owner === owner) this.#kept.delete(scope);
  }

  /** What is wrong with an event that came to a scope at this time. */
  taken(before: State, type: string, { scope, at }: State): string | undefined {
    if (type === "scope.opened") this.#kept.set(scope.id, { owner: scope.owner, since: at });
    const kept = this.#kept.get(scope.id);
    const due = nextDeadline(before);
    if (kept === undefined || due === undefined) return undefined;
    const late = at - Math.max(due.at, kept.since, this.#slowUntil.get(kept.owner) ?? 0);
    return late <= lateMs ? undefined : `${kept.owner} kept the deadline of \`${due.key}\` ${late} ms late`;
  }
}

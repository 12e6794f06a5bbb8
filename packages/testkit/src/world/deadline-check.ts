/**
 * Checks that deadlines are kept: the event of a deadline must be stepped soon after it is due, while the process that
 * opened the scope lives and its store accepts appends.
 */
import { type State, nextDeadline } from "@pawl/sansio-core";
import type { Fate } from "./moment.ts";
import { slowMs } from "./faulty-journal.ts";

/** Maximum delay from slow commits: the current one and the next. */
const maxSlowMs = 2 * slowMs;
/** Maximum lateness. */
const maxLateMs = 100;

interface Kept {
  readonly owner: string;
  /** Deadlines before this time count as due at it. */
  readonly since: number;
}

export class DeadlineCheck {
  readonly #kept = new Map<string, Kept>();
  /** Time until which a process may wait for its store. */
  readonly #slowUntil = new Map<string, number>();

  /** Notes a fault: the process waits for a slow store, or has lost its scopes. */
  befall(owner: string, fate: Fate, now: number): void {
    if (fate === "live" || fate === "heard_twice") return;
    if (fate === "slow") return void this.#slowUntil.set(owner, now + maxSlowMs);
    for (const [scope, kept] of this.#kept) if (kept.owner === owner) this.#kept.delete(scope);
  }

  /** Returns what is wrong if an event came too late. */
  taken(before: State, type: string, { scope, at }: State): string | undefined {
    if (type === "scope.opened") this.#kept.set(scope.id, { owner: scope.owner, since: at });
    const kept = this.#kept.get(scope.id);
    const due = nextDeadline(before);
    if (kept === undefined || due === undefined) return undefined;
    const late = at - Math.max(due.at, kept.since, this.#slowUntil.get(kept.owner) ?? 0);
    return late <= maxLateMs ? undefined : `${kept.owner} kept the deadline of \`${due.key}\` ${late} ms late`;
  }
}

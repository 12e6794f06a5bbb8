/** What happened in the world outside: it outlives every process, and forgets nothing. */
import type { Json } from "@pawl/tool-value";

export interface Happened {
  readonly effect: string;
  /** Under which the service outside takes it once. */
  readonly key?: string;
  readonly detail: Json;
  readonly at: number;
  readonly process: string;
}

export class Ledger {
  readonly #happened: Happened[] = [];

  get happened(): readonly Happened[] {
    return this.#happened;
  }

  /** What has happened under a key happens no more: the service answers what it answered. */
  add(what: Happened): Happened {
    const before = this.#happened.find(
      ({ effect, key }) => key !== undefined && effect === what.effect && key === what.key,
    );
    if (before !== undefined) return before;
    this.#happened.push(what);
    return what;
  }

  /** How often each effect happened. */
  get counts(): ReadonlyMap<string, number> {
    const counts = new Map<string, number>();
    for (const { effect } of this.#happened) counts.set(effect, (counts.get(effect) ?? 0) + 1);
    return counts;
  }
}

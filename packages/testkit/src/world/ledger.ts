/** The world outside of the processes: records every effect and survives every crash. */
import type { Json } from "@pawl/tool-value";
import { type Place, happening, hostHears } from "./footprint.ts";

export interface Happened {
  readonly effect: string;
  /** The idempotency key, if any. */
  readonly key?: string;
  /** The tool that caused it. */
  readonly tool?: string;
  /** The step that caused it; absent outside of steps. */
  readonly step?: string;
  readonly detail: Json;
  readonly at: number;
  readonly process: string;
}

interface Awaiting {
  readonly effect: string;
  readonly n: number;
  readonly tell: (happened: Happened) => void;
}

export class Ledger {
  readonly #happened: Happened[] = [];
  readonly #touched: (place: Place) => void;
  #awaiting: Awaiting[] = [];

  constructor(touched: (place: Place) => void) {
    this.#touched = touched;
  }

  get happened(): readonly Happened[] {
    return this.#happened;
  }

  /** Records an effect. A repetition under the same key has no effect and gets the first answer. */
  add(what: Happened): Happened {
    const isLikeOthers = what.key === undefined && what.detail === null;
    if (!isLikeOthers) this.#touched(happening(what.effect));
    const before = this.#happened.find(
      ({ effect, key }) => key !== undefined && effect === what.effect && key === what.key,
    );
    if (before !== undefined) return before;
    this.#happened.push(what);
    const told = this.#awaiting.filter(({ effect, n }) => this.#nth(effect, n) !== undefined);
    this.#awaiting = this.#awaiting.filter((one) => !told.includes(one));
    if (told.length > 0) this.#touched(hostHears);
    for (const { tell } of told) tell(what);
    return what;
  }

  #nth(effect: string, n: number): Happened | undefined {
    return this.#happened.filter((one) => one.effect === effect)[n - 1];
  }

  /** Effects that somebody waits for. */
  get awaited(): readonly string[] {
    return this.#awaiting.map(({ effect, n }) => `effect \`${effect}\`${n === 1 ? "" : `, number ${n}`}`);
  }

  /** Resolves with the n-th occurrence of an effect, counted from 1. */
  when(effect: string, n: number): Promise<Happened> {
    const found = this.#nth(effect, n);
    return found === undefined
      ? new Promise((tell) => void this.#awaiting.push({ effect, n, tell }))
      : Promise.resolve(found);
  }

  /** Counts occurrences by effect. */
  get counts(): ReadonlyMap<string, number> {
    const counts = new Map<string, number>();
    for (const { effect } of this.#happened) counts.set(effect, (counts.get(effect) ?? 0) + 1);
    return counts;
  }
}

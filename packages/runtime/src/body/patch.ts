/**
 * The answers of `ctx.patched`, which lets new code live beside its older self. There is one answer for each name in a life:
 * the one on record; else false while the run has yet to ask for something on record, for it then repeats what older code
 * did; else true. An answer has no place of its own in the order of the log: it goes with the next event of its run.
 */
import type { Patches } from "@pawl/sansio-core/driver";
import type { RecordedRun } from "./replay.ts";

/** Adds the answers that go with an event to it. */
export const withPatches = <E extends object>(event: E, patched: Patches | undefined): E =>
  patched === undefined ? event : { ...event, patched };

export class PatchAnswers {
  readonly #recorded: Patches;
  readonly #isAsked: (key: string) => boolean;
  /** The record of this life. */
  readonly #keys: readonly string[];
  /** So many of them, from the first on, may still have to be asked for. */
  #left: number;
  readonly #answers = new Map<string, boolean>();
  #unsaid: { [name: string]: boolean } | undefined;

  constructor({ patches, keys }: Pick<RecordedRun, "patches" | "keys">, isAsked: (key: string) => boolean) {
    this.#recorded = patches;
    this.#keys = keys;
    this.#left = keys.length;
    this.#isAsked = isAsked;
  }

  /** True once the run has asked for all that is on record. */
  get #isNew(): boolean {
    while (this.#left > 0 && this.#isAsked(this.#keys[this.#left - 1] as string)) this.#left -= 1;
    return this.#left === 0;
  }

  answer(name: string): boolean {
    const known = Object.hasOwn(this.#recorded, name) ? this.#recorded[name] : this.#answers.get(name);
    if (known !== undefined) return known;
    const answer = this.#isNew;
    this.#answers.set(name, answer);
    this.#unsaid = { ...this.#unsaid, [name]: answer };
    return answer;
  }

  /** Returns what the run was told since its last event. */
  take(): Patches | undefined {
    const unsaid = this.#unsaid;
    this.#unsaid = undefined;
    return unsaid;
  }
}

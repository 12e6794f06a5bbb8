/**
 * The store of the core simulation: one log for each scope, in memory. A second core folds each log once, and must
 * accept the same events and emit the same commands.
 */
import {
  type Envelope,
  type Finished,
  type State,
  type Transition,
  digest,
  initial,
  restore,
  snapshot,
  step,
} from "@pawl/sansio-core";
import { parse, stringifyRecord } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import type { Conservation } from "./conservation.ts";
import { CoreSimViolation } from "./violation.ts";

/** An appended event, with the digest of its commands and the rows that it finished. */
export interface Entry {
  readonly envelope: Envelope;
  readonly digest: string;
  readonly finished: readonly Finished[];
}

export class ScopeLog {
  readonly scope: string;
  readonly entries: Entry[] = [];
  #epoch = 0;
  #folded: State;
  readonly #conservation: Conservation;

  constructor(scope: string, conservation: Conservation) {
    this.scope = scope;
    this.#folded = initial(scope);
    this.#conservation = conservation;
  }

  get epoch(): number {
    return this.#epoch;
  }

  /** Raises the epoch: above that of a log from elsewhere, if there is one. */
  claim(above = 0): number {
    this.#epoch = Math.max(this.#epoch, above) + 1;
    return this.#epoch;
  }

  append(epoch: number, entries: readonly Entry[]): "ok" | "fenced" {
    if (epoch !== this.#epoch) return "fenced";
    for (const entry of entries) {
      if (entry.envelope.seq !== this.entries.length + 1)
        throw new CoreSimViolation("store", `${this.scope}: ${entry.envelope.seq} after ${this.entries.length}`);
      this.entries.push(entry);
    }
    return "ok";
  }

  #follow(state: State, { envelope, digest: recorded }: Entry): Transition {
    const result = step(state, envelope);
    const at = `${this.scope} ${envelope.seq} ${envelope.event.type}`;
    if (E.isLeft(result))
      throw new CoreSimViolation("replay", `${at}: accepted live, and rejected by replay: ${result.left.message}`);
    const found = digest(result.right);
    if (found !== recorded)
      throw new CoreSimViolation("replay", `${at}: its commands hash to ${recorded} live, and to ${found} in replay`);
    return result.right;
  }

  /** Returns the state of the log. */
  fold(): State {
    for (let i = this.#folded.seq; i < this.entries.length; i++) {
      const entry = this.entries[i] as Entry;
      const transition = this.#follow(this.#folded, entry);
      this.#conservation.take(this.scope, entry.envelope, transition);
      this.#folded = transition.state;
    }
    return this.#folded;
  }

  /** Continues to fold from a snapshot, given as text. */
  compact(text: string): void {
    const json = parse(text);
    const restored = E.isRight(json) ? restore(json.right) : json;
    if (E.isLeft(restored)) throw new CoreSimViolation("snapshot", `${this.scope}: its own snapshot is refused`);
    this.#folded = restored.right;
  }
}

/** Returns a text that is equal for equal states. */
export const stateText = (state: State): string => stringifyRecord(snapshot(state));

/**
 * The store of the core simulation: one log a scope, in memory. What is in it is folded once, event by event, by a core of its own:
 * it has to accept what the driver's accepted, and to command the same.
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

/** An event as it is appended: with what its commands come to, and what left the state with it. */
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

  claim(): number {
    this.#epoch += 1;
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
      throw new CoreSimViolation("replay", `${at}: taken, and refused by replay: ${result.left.message}`);
    const found = digest(result.right);
    if (found !== recorded)
      throw new CoreSimViolation("replay", `${at}: commanded ${recorded}, and ${found} in replay`);
    return result.right;
  }

  /** The state that the log comes to. */
  fold(): State {
    for (let i = this.#folded.seq; i < this.entries.length; i++) {
      const entry = this.entries[i] as Entry;
      const transition = this.#follow(this.#folded, entry);
      this.#conservation.take(this.scope, entry.envelope, transition);
      this.#folded = transition.state;
    }
    return this.#folded;
  }

  /** From here on it is folded from a snapshot of what it comes to, whose text this is. */
  compact(text: string): void {
    const json = parse(text);
    const restored = E.isRight(json) ? restore(json.right) : json;
    if (E.isLeft(restored)) throw new CoreSimViolation("snapshot", `${this.scope}: its own snapshot is refused`);
    this.#folded = restored.right;
  }
}

/** What a state is known by: equal for equal states, however they were come by. */
export const stateText = (state: State): string => stringifyRecord(snapshot(state));

/** Reads what a store was given as it was given it, and checks it: every line replays, and every invariant holds. */
import {
  type CallWaits,
  type Event,
  type State,
  checkAll,
  checkChange,
  describeFault,
  effectWords,
  follow,
  initial,
  recordedOf,
  waitsWords,
  why,
  type Recovery,
  recoveryOf,
} from "@pawl/sansio-core";
import type { JournalLine } from "@pawl/runtime";
import { describe, noLimits, parse } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { pipe } from "fp-ts/lib/function.js";

export interface LostBody {
  readonly tool: string;
  readonly recovery: Recovery;
}

export class LostBodies {
  readonly #bodies = new Map<string, LostBody>();

  get all(): readonly LostBody[] {
    return [...this.#bodies.values()];
  }

  taken({ scope, calls }: State, event: Event, after: State): void {
    if (event.type === "call.resumed") this.#bodies.delete(`${scope.id} ${event.call}`);
    if (event.type !== "scope.opened" && event.type !== "owner.lost") return;
    for (const row of calls.rows()) {
      const { ref } = row.call;
      if (row.phase !== "running" || after.calls.at(ref)?.phase === "running") continue;
      const recovery = recoveryOf(row.body.manifest);
      if (recovery !== "rerunnable") this.#bodies.set(`${scope.id} ${ref}`, { tool: row.tool, recovery });
    }
  }
}

/** All invariants are looked at every so many events; those of a change after each. */
const eventsPerFullLook = 32;

const waitsFor = (what: CallWaits): string => {
  const effects =
    "effects" in what ? what.effects.map((effect) => `${effectWords(effect)}, asked for as \`${effect.key}\``) : [];
  return [waitsWords(what), ...effects].join(": ");
};

/** An event that was taken: the state that it came in, and what it led to. Says what is wrong with that. */
export type Taken = (before: State, event: Event, after: State) => string | undefined;

export class Audit {
  readonly #states = new Map<string, State>();
  readonly #told: Taken;
  #fault: string | undefined;

  /** `told` judges each event too. */
  constructor(told: Taken = () => undefined) {
    this.#told = told;
  }

  /** What is wrong with the first line that was wrong, if one was. */
  get fault(): string | undefined {
    return this.#fault;
  }

  get scopes(): readonly string[] {
    return [...this.#states.keys()];
  }

  state(scope: string): State | undefined {
    return this.#states.get(scope);
  }

  /** What live calls wait for. */
  get waiting(): readonly string[] {
    return [...this.#states.values()].flatMap((state) =>
      why(state).calls.map(({ call, what }) => `call ${call} of ${state.scope.id} waits for ${waitsFor(what)}`),
    );
  }

  take(scope: string, lines: readonly JournalLine[]): void {
    for (const line of lines) this.#fault ??= this.#taken(scope, line);
  }

  #taken(scope: string, { seq, line }: JournalLine): string | undefined {
    const before = this.#states.get(scope) ?? initial(scope);
    const at = `${scope} ${seq}`;
    const recorded = pipe(parse(line, noLimits), E.chain(recordedOf));
    if (E.isLeft(recorded)) return `${at}: ${describe(recorded.left)}`;
    const followed = follow(before, recorded.right, seq);
    if (E.isLeft(followed)) return `${at}: ${describeFault(followed.left)}`;
    const { state } = followed.right;
    this.#states.set(scope, state);
    const amiss = this.#told(before, recorded.right.event, state);
    const broken = amiss ?? checkChange(before, state) ?? (seq % eventsPerFullLook === 0 ? checkAll(state) : undefined);
    return broken === undefined ? undefined : `${at}: ${recorded.right.event.type}: ${broken}`;
  }

  /** A last full look at every scope. */
  close(): string | undefined {
    for (const state of this.#states.values()) {
      const broken = checkAll(state);
      if (broken !== undefined) this.#fault ??= `${state.scope.id} at its end: ${broken}`;
    }
    return this.#fault;
  }
}

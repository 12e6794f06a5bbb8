/** Replays every line as it reaches the store and checks every invariant. */
import {
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
} from "@pawl/sansio-core";
import { type CallWaits, type Recovery, newestProtocol, recoveryOf } from "@pawl/sansio-core/driver";
import type { JournalLine } from "@pawl/runtime/driver";
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

/** Events between two checks of all invariants. Changes are checked after each event. */
const eventsPerFullLook = 32;

const waitsFor = (what: CallWaits): string => {
  const effects =
    "effects" in what ? what.effects.map((effect) => `${effectWords(effect)}, requested as \`${effect.key}\``) : [];
  return [waitsWords(what), ...effects].join(": ");
};

/** Decides what a process does about older protocols in a scenario that upgrades. */
export const upgradeOf = (process: string): "auto" | "never" => (process === "p1" ? "never" : "auto");

/** Returns what is wrong with the protocol of an opening: the first owner that may upgrade does so before it opens. */
export const openedUnderOther = (event: Event): string | undefined => {
  if (event.type !== "scope.opened") return undefined;
  const wanted = upgradeOf(event.owner) === "never" ? 1 : newestProtocol;
  return event.protocol === wanted
    ? undefined
    : `${event.owner} opened it under protocol ${event.protocol}, expected ${wanted}`;
};

/** Judges an accepted event by the states before and after it. Returns what is wrong. */
export type Taken = (before: State, event: Event, after: State) => string | undefined;

export class Audit {
  readonly #states = new Map<string, State>();
  readonly #told: Taken;
  #fault: string | undefined;

  /** Judges each event with `told`, too. */
  constructor(told: Taken = () => undefined) {
    this.#told = told;
  }

  /** The first fault found. */
  get fault(): string | undefined {
    return this.#fault;
  }

  get scopes(): readonly string[] {
    return [...this.#states.keys()];
  }

  state(scope: string): State | undefined {
    return this.#states.get(scope);
  }

  /** Describes what live calls wait for. */
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

  /** Checks all invariants of every scope. */
  close(): string | undefined {
    for (const state of this.#states.values()) {
      const broken = checkAll(state);
      if (broken !== undefined) this.#fault ??= `${state.scope.id} at its end: ${broken}`;
    }
    return this.#fault;
  }
}

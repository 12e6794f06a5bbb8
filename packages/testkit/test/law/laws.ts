/** Laws about pairs of events. `laws.test.ts` tries them a few hundred times, `pnpm laws` as often as it is told. */
import { type Envelope, type Event, type State, initial, step } from "@pawl/sansio-core";
import * as fc from "fast-check";
import * as E from "fp-ts/lib/Either.js";
import { type Script, logOf, play, script } from "../../../sansio-core/test/arbitrary/play.ts";
import type { Law } from "../../../sansio-core/test/law/laws.ts";
import { runCoreSim } from "../../src/core-sim/index.ts";
import { type Footprint, footprintOf, isIndependent } from "../../src/world/footprint.ts";
import { conflictOf, inWords } from "./commute.ts";

/** Counts of independent pairs by their types, and of dependent ones. */
export const pairs = { independent: new Map<string, number>(), dependent: 0 };

interface Possible {
  readonly event: Event;
  readonly footprint: Footprint;
}

/** Number of later events of a history that are tried in a state. */
const ahead = 12;

const possibleIn = (state: State, at: number, events: readonly Event[]): readonly Possible[] =>
  events.flatMap((event) => {
    const result = step(state, { seq: state.seq + 1, at, event });
    return E.isLeft(result) ? [] : [{ event, footprint: footprintOf(state, event, result.right.state) }];
  });

const count = (a: Event, b: Event): void => {
  const kind = [a.type, b.type].toSorted().join(" · ");
  pairs.independent.set(kind, (pairs.independent.get(kind) ?? 0) + 1);
};

const conflictIn = (state: State, at: number, events: readonly Event[]): string | undefined => {
  const possible = possibleIn(state, at, events);
  for (const [i, a] of possible.entries())
    for (const b of possible.slice(i + 1)) {
      if (!isIndependent(a.footprint, b.footprint)) {
        pairs.dependent += 1;
        continue;
      }
      count(a.event, b.event);
      const conflict = conflictOf(state, at, a.event, b.event);
      if (conflict !== undefined)
        return `${state.scope.id} ${state.seq} ${inWords(a.event)} and ${inWords(b.event)}: ${conflict}`;
    }
  return undefined;
};

/** Only every third state of a history is tried. */
const stride = 3;

const conflictOfLog = (scope: string, log: readonly Envelope[]): string | undefined => {
  let state = initial(scope);
  for (const [i, envelope] of log.entries()) {
    const later = log.slice(i, i + ahead).map(({ event }) => event);
    const found = i % stride === 0 ? conflictIn(state, envelope.at, later) : undefined;
    if (found !== undefined) return found;
    const result = step(state, envelope);
    if (E.isLeft(result)) return undefined;
    state = result.right.state;
  }
  return undefined;
};

const told = (details: {
  readonly failed: boolean;
  readonly seed: number;
  readonly counterexample: unknown;
  readonly errorInstance: unknown;
}) => ({
  seed: details.seed,
  report: details.failed ? `${JSON.stringify(details.counterexample)}\n${String(details.errorInstance)}` : undefined,
});

const must = (conflict: string | undefined): void => {
  if (conflict !== undefined) throw new Error(conflict);
};

const ofHistories: Law = {
  name: "independent events commute: histories that a model chooses",
  check: (parameters) =>
    told(
      fc.check(
        fc.property(script(), (one: Script) => {
          const played = play(one);
          must(conflictOfLog(played.state.scope.id, logOf(played)));
        }),
        parameters,
      ),
    ),
};

const ofCoreSims: Law = {
  name: "independent events commute: scopes of the core simulation",
  check: (parameters) =>
    told(
      fc.check(
        fc.property(fc.nat(), (seed) => {
          for (const [scope, log] of runCoreSim(seed).logs) must(conflictOfLog(scope, log));
        }),
        parameters,
      ),
    ),
};

export const laws: readonly Law[] = [ofHistories, ofCoreSims];

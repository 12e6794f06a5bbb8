/** What holds of all histories. `laws.test.ts` tries each law a few hundred times, `run.ts` as often as it is told. */
import { describe, stringifyRecord } from "@pawl/tool-value";
import * as fc from "fast-check";
import * as E from "fp-ts/lib/Either.js";
import { checkAll } from "../../src/check.ts";
import { checkChange } from "../../src/check-change.ts";
import { type Transition, EventCodec, initial, nextDeadline, outstanding, step } from "../../src/machine.ts";
import type { Envelope, State } from "../../src/kernel/vocabulary.ts";
import { eventText } from "../../src/log/format.ts";
import { restore } from "../../src/snapshot/restore.ts";
import { snapshot } from "../../src/snapshot/write.ts";
import { stateHash } from "../../src/log/hash.ts";
import { Dice } from "../arbitrary/dice.ts";
import { type Played, type Script, logOf, play, script, statesOf, trusted } from "../arbitrary/play.ts";
import { agreement } from "./agree.ts";
import { conserved, endOnce, endsWhole, orderedAnswers, startOnce } from "./conserve.ts";
import { crashed, drive } from "./drive.ts";
import { textOf } from "./text.ts";

export interface Law {
  readonly name: string;
  readonly check: (parameters: { readonly numRuns: number; readonly seed?: number }) => {
    readonly seed: number;
    /** What contradicts the law, if anything does. */
    readonly report: string | undefined;
  };
}

/** Returns what went wrong, and by which script: it is short, and `play` shows the rest. */
const told = ({ counterexample, errorInstance, seed }: fc.RunDetails<[Script]>): string => {
  const error = errorInstance instanceof Error ? errorInstance : new Error(String(errorInstance));
  const stack = (error.stack ?? error.message).split("\n    at ").slice(0, 6).join("\n    at ");
  return `seed ${seed}: ${JSON.stringify(counterexample?.[0])}\n${stack}`;
};

/** A law says what is wrong with a history, if anything is. Those that look at every state have shorter ones. */
const law = (name: string, broken: (script: Script) => string | undefined, most?: number): Law => ({
  name,
  check: (parameters) => {
    const property = fc.property(script(most), (one) => {
      const what = broken(one);
      if (what !== undefined) throw new Error(what);
    });
    const details = fc.check(property, parameters);
    return { seed: details.seed, report: details.failed ? told(details) : undefined };
  },
});

const firstOf = <A>(
  items: readonly A[],
  broken: (item: A, index: number) => string | undefined,
): string | undefined => {
  for (const [i, item] of items.entries()) {
    const what = broken(item, i);
    if (what !== undefined) return what;
  }
  return undefined;
};

const differ = (what: string, found: string, expected: string): string | undefined =>
  found === expected ? undefined : `${what}\n   found ${found}\nexpected ${expected}`;

/** Returns what a transition says to the outside. */
const saidBy = ({ commands, finished, state }: Transition): string =>
  textOf({ commands, finished, next: nextDeadline(state) });

const said = ({ moves }: Played): string => textOf(moves.map(({ transition }) => saidBy(transition)));

const fold = (from: State, log: readonly Envelope[]): readonly Transition[] => {
  let state = from;
  return log.map((envelope) => {
    const result = step(state, envelope);
    if (E.isLeft(result)) throw new Error(`event ${envelope.seq} was accepted, and is refused: ${result.left.message}`);
    state = result.right.state;
    return result.right;
  });
};

/** Compares two futures event by event. */
const sameFuture = (found: readonly Transition[], played: Played["moves"]): string | undefined =>
  firstOf(found, (transition, i) => {
    const move = played[i];
    if (move === undefined) return "there are more of them";
    const where = `event ${move.envelope.seq}, ${move.envelope.event.type}`;
    return (
      differ(where, saidBy(transition), saidBy(move.transition)) ??
      differ(
        `outstanding after ${where}`,
        textOf(outstanding(transition.state)),
        textOf(outstanding(move.transition.state)),
      )
    );
  });

const lastState = (transitions: readonly Transition[], otherwise: State): State =>
  transitions.at(-1)?.state ?? otherwise;

/** Some of the places of a history. */
const places = ({ world }: Script, length: number): readonly number[] => {
  const dice = new Dice(world + 1);
  return Array.from({ length: 3 }, () => dice.below(length));
};

const restored = (state: State): State => {
  const result = restore(snapshot(state));
  if (E.isLeft(result)) throw new Error(`a snapshot is refused: ${describe(result.left)}`);
  return result.right;
};

const short = 80;

const leavesItsArgument = (of: Script): string | undefined => {
  let text: string | undefined;
  let broken: string | undefined;
  play(of, ({ before, envelope, result }) => {
    text ??= stringifyRecord(snapshot(before));
    broken ??= differ(`event ${envelope.seq}`, stringifyRecord(snapshot(before)), text);
    if (E.isRight(result)) text = stringifyRecord(snapshot(result.right.state));
  });
  return broken;
};

const stepLaws: readonly Law[] = [
  law("every event in every state gives a transition or a rejection", (of) => {
    play(of, ({ result }) => {
      if (E.isLeft(result) && result.left.message === "") throw new Error("a rejection says nothing");
    });
    return undefined;
  }),
  law("the same history gives the same log, commands and state", (of) => {
    const [a, b] = [play(of), play(of)];
    return (
      differ("log", textOf(logOf(a)), textOf(logOf(b))) ??
      differ("commands", said(a), said(b)) ??
      differ("state", stateHash(a.state), stateHash(b.state))
    );
  }),
  law("a step leaves the state that it is given as it was", leavesItsArgument, short),
  law("every invariant holds after every step", (of) => {
    const { moves } = play(of);
    return firstOf(moves, ({ before, transition: { state }, envelope: { seq, event } }) => {
      const broken = checkAll(state) ?? checkChange(before, state);
      return broken === undefined ? undefined : `after event ${seq}, ${event.type}: ${broken}`;
    });
  }),
];

const logLaws: readonly Law[] = [
  law("a log folds to the state that wrote it, by the same commands", (of) => {
    const played = play(of);
    const from = initial(played.state.scope.id);
    const folded = fold(from, logOf(played));
    const state = lastState(folded, from);
    return sameFuture(folded, played.moves) ?? differ("state", stateHash(state), stateHash(played.state));
  }),
  law("a restored state has the same future as the one that was written", (of) => {
    const played = play(of);
    const states = statesOf(played);
    const log = logOf(played);
    return firstOf(places(of, states.length), (place) => {
      const from = restored(states[place] as State);
      const future = fold(from, log.slice(place));
      return (
        sameFuture(future, played.moves.slice(place)) ??
        differ(`state, restored at ${place}`, stateHash(lastState(future, from)), stateHash(played.state))
      );
    });
  }),
  law(
    "a snapshot is a fixed point",
    (of) =>
      firstOf(statesOf(play(of)), (state) =>
        differ("snapshot", stringifyRecord(snapshot(restored(state))), stringifyRecord(snapshot(state))),
      ),
    short,
  ),
  law(
    "what is outstanding is the same for a live state and a restored one, at every prefix",
    (of) =>
      firstOf(statesOf(play(of)), (state) =>
        differ(`at ${state.seq}`, textOf(outstanding(restored(state))), textOf(outstanding(state))),
      ),
    short,
  ),
  law("an event's text is what its codec and the writer of records make", (of) =>
    firstOf(logOf(play(of)), ({ event }) =>
      differ(event.type, eventText(event), stringifyRecord(EventCodec.encode(event))),
    ),
  ),
  law("an event survives its text, which is a fixed point", (of) =>
    firstOf(logOf(play(of)), ({ event }) => {
      const written = EventCodec.encode(event);
      const again = EventCodec.encode(trusted(EventCodec, written));
      const { type } = event;
      const isOne = EventCodec.is(event) ? undefined : `${type} is not one of its own codec's`;
      return isOne ?? differ(event.type, textOf(again), textOf(written));
    }),
  ),
];

const lifeLaws: readonly Law[] = [
  law("whatever happened, a scope comes to rest once everybody does their part", (of) => drive(play(of).state).stuck),
  law("a new owner brings the scope to rest, wherever the old one was lost", (of) => {
    const states = statesOf(play(of)).filter(({ scope }) => scope.epoch > 0 && scope.status.type !== "moved");
    return firstOf(places(of, states.length), (place) => {
      const state = states[place] as State;
      const stuck = drive(crashed(state)).stuck;
      return stuck === undefined ? undefined : `crashed after event ${state.seq}: ${stuck}`;
    });
  }),
  law("each call that starts is observed as started and as completed, once and in this order", (of) => {
    const played = play(of);
    const driven = drive(played.state);
    const all = [...played.moves.map(({ transition }) => transition), ...driven.transitions];
    return conserved(all, driven.state);
  }),
  law("each request is replied to once", (of) => {
    const played = play(of);
    const driven = drive(played.state);
    if (driven.state.scope.status.type === "moved") return undefined; // They are replied to from where it is now.
    return endOnce(logOf(played), [...played.moves.map(({ transition }) => transition), ...driven.transitions]);
  }),
  law("what `ask` advises is what `step` takes", (of) => firstOf(statesOf(play(of)), agreement), short),
  law("a body is asked for once a run, and a step once a request", (of) =>
    startOnce(play(of).moves.map(({ transition }) => transition)),
  ),
  law("a body that ends leaves nothing at work that it does not name", (of) => endsWhole(play(of).moves)),
  law("answers reach a body in the order of their places in the log", (of) =>
    orderedAnswers(play(of).moves.map(({ transition }) => transition)),
  ),
];

export const laws: readonly Law[] = [...stepLaws, ...logLaws, ...lifeLaws];

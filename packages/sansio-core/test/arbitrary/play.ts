/** Histories: what a scope may live through, from a list of seeds. Fewer seeds are a shorter history. */
import { type Codec, describe, read } from "@pawl/tool-value";
import * as fc from "fast-check";
import * as E from "fp-ts/lib/Either.js";
import { type Transition, EventCodec, initial, nextDeadline, step } from "../../src/machine.ts";
import type { Rejection } from "../../src/kernel/error.ts";
import { newestProtocol } from "../../src/kernel/protocol.ts";
import type { Envelope, Event, State } from "../../src/kernel/vocabulary.ts";
import { Dice } from "./dice.ts";
import { frozen, frozenState } from "./frozen.ts";
import { anyRegistration } from "./wild-link.ts";
import { plausible } from "./plausible.ts";
import { wild } from "./wild.ts";
import { toolsUnder } from "../../src/catalog/model.ts";
import { anyOptions, anyTools } from "./world.ts";

export interface Script {
  /** Of the tools and options. */
  readonly world: number;
  /** How many of a hundred events are wild ones. */
  readonly wildness: number;
  /** One a move. */
  readonly moves: readonly number[];
}

export const script = (most = 160): fc.Arbitrary<Script> =>
  fc.record({
    world: fc.nat(),
    wildness: fc.constantFrom(0, 5, 30),
    moves: fc.array(fc.nat(), { maxLength: most, size: "max" }),
  });

/** One move: an event, where it came, and what it led to. */
export interface Move {
  readonly before: State;
  readonly envelope: Envelope;
  readonly result: E.Either<Rejection, Transition>;
}

/** The moves that were accepted, and the state that they led to. */
export interface Played {
  readonly moves: readonly (Move & { readonly transition: Transition })[];
  readonly state: State;
}

export const trusted = <A>(codec: Codec<A>, json: unknown): A => {
  const result = read(codec, json);
  if (E.isLeft(result)) throw new Error(`${describe(result.left)}: ${JSON.stringify(json)}`);
  return result.right;
};

/** An event as it comes out of a log. */
export const recorded = (event: Event): Event => trusted(EventCodec, EventCodec.encode(event));

/** Time stands still, goes by, comes to a deadline, or runs past many. */
const timeAfter = (dice: Dice, state: State): number => {
  const due = nextDeadline(state)?.at ?? state.at;
  const isNear = due - state.at < 10_000_000;
  switch (dice.below(10)) {
    case 0:
    case 1:
      return isNear ? Math.max(due, state.at) : state.at + 1;
    case 2:
      return isNear ? Math.max(due, state.at) + 100_000 : state.at + 1;
    case 3:
    case 4:
      return state.at + dice.pick([1, 49, 50, 500]);
    default:
      return state.at;
  }
};

const move = (before: State, at: number, event: Event): Move => {
  const envelope = frozen({ seq: before.seq + 1, at, event: recorded(event) });
  return { before, envelope, result: step(before, envelope) };
};

/** Plays a script out; everything that `step` is given, and gives, is frozen. */
export const play = ({ world, wildness, moves }: Script, look: (move: Move) => void = () => undefined): Played => {
  const made: (Move & { readonly transition: Transition })[] = [];
  const dice = new Dice(world);
  const isProcess = dice.isUnder(20);
  let state = initial(isProcess ? "process:p1" : "session:s");
  const make = (next: Move): void => {
    look(next);
    if (E.isLeft(next.result)) return;
    const transition = frozen(next.result.right);
    made.push({ ...next, transition });
    state = frozenState(transition.state);
  };
  const protocol = dice.pick([1, newestProtocol]);
  const options = anyOptions(dice, protocol);
  make(move(state, 1000, { type: "scope.opened", epoch: 1, owner: "d1", protocol, options }));
  make(move(state, 1000, { type: "catalog.published", tools: toolsUnder(protocol, anyTools(dice)) }));
  if (isProcess) make(move(state, 1000, { type: "process.registered", ...anyRegistration(dice) }));
  for (const seed of moves) {
    const of = new Dice(seed);
    const at = timeAfter(of, state);
    make(move(state, at, of.isUnder(wildness) ? wild(of, state) : plausible(of, state)));
  }
  return { moves: made, state };
};

export const logOf = ({ moves }: Played): readonly Envelope[] => moves.map(({ envelope }) => envelope);

/** The states of a history: before its first event, and after each. */
export const statesOf = ({ moves, state }: Played): readonly State[] => [...moves.map(({ before }) => before), state];

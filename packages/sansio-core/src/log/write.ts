/** Writes a log: a header, then a line for each event that the core accepts. A fold, like the step itself. */
import * as E from "fp-ts/lib/Either.js";
import { type Transition, digest, step } from "../machine.ts";
import type { Rejection } from "../kernel/error.ts";
import type { Envelope } from "../kernel/event.ts";
import type { State } from "../kernel/state.ts";
import { eventLine } from "./format.ts";

/** The line of an event, with what followed from it. It is of the epoch that the scope is in after it. */
export const lineOf = ({ seq, at, event }: Envelope, transition: Transition): string =>
  eventLine({ seq, epoch: transition.state.scope.epoch, at, event, cmds: digest(transition) });

export interface Written extends Transition {
  readonly line: string;
}

/** Steps, and writes the line to append. What is rejected is not appended. */
export const write = (state: State, envelope: Envelope): E.Either<Rejection, Written> => {
  const result = step(state, envelope);
  if (E.isLeft(result)) return result;
  const { right } = result;
  return E.right({
    state: right.state,
    commands: right.commands,
    finished: right.finished,
    line: lineOf(envelope, right),
  });
};

/**
 * The core: `step` takes a state and an event, and gives the next state and the commands that follow from it.
 *
 *   1  admit    the envelope fits: its place, its time, the scope takes events
 *   2  time     what is due at or before `at` passes, by (deadline, birth)
 *   3  handle   one concern looks the event up, decides, writes and emits; or rejects, and nothing has happened
 *   4  route    signals between concerns, until there are none; then flows whose step has ended go on, which may raise
 *               signals again: each node that a flow comes to is counted, and so there is an end
 *   5  finish   the draft becomes the state
 *
 * Which concern takes which event is in `dispatch.ts`.
 *
 * Pure, synchronous and total: the same state and event give the same result on every platform, for ever within one
 * protocol; an event that does not fit is a typed Rejection, and the state stands.
 */
import * as E from "fp-ts/lib/Either.js";
import type { Command } from "./kernel/command.ts";
import { handle, onDue, route } from "./dispatch.ts";
import { Draft } from "./kernel/draft.ts";
import type { Rejection } from "./kernel/error.ts";
import type { Envelope } from "./kernel/event.ts";
import type { Finished } from "./kernel/finished.ts";
import { onStepEnded } from "./flow/step.ts";
import { admit } from "./scope/admit.ts";
import type { State } from "./kernel/state.ts";

/** What follows from an event. */
export interface Transition {
  readonly state: State;
  readonly commands: readonly Command[];
  /** What left the state, for the journal's finished index. */
  readonly finished: readonly Finished[];
}

const routeAll = (draft: Draft): void => {
  for (let signal = draft.nextSignal(); signal !== undefined; signal = draft.nextSignal()) route(draft, signal);
};

const settle = (draft: Draft): void => {
  routeAll(draft);
  for (let end = draft.nextStepEnd(); end !== undefined; end = draft.nextStepEnd()) {
    onStepEnded(draft, end);
    routeAll(draft);
  }
};

const passTime = (draft: Draft): void => {
  if (draft.scope.status.type !== "open") return; // A scope that moves keeps what it has as it is.
  for (let count = 0; count < draft.options.expire_at_once; count++) {
    const passed = draft.takePassed();
    if (passed === undefined) return;
    onDue(draft, passed);
    settle(draft);
  }
};

export const step = (state: State, { seq, at, event }: Envelope): E.Either<Rejection, Transition> => {
  const misfit = admit(state, { seq, at, event });
  if (misfit !== undefined) return E.left(misfit);
  const draft = new Draft(state, seq, at);
  passTime(draft);
  const rejection = handle(draft, event);
  if (rejection !== undefined) return E.left(rejection);
  settle(draft);
  return E.right({ state: draft.finish(), commands: draft.commands, finished: draft.finished });
};

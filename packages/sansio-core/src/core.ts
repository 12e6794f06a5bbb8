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
 * What only some logs need is in `core-seldom.ts`; a page loads it before the first event that needs it.
 *
 * Pure, synchronous and total: the same state and event give the same result on every platform, for ever within one
 * protocol; an event that does not fit is a typed Rejection, and the state stands.
 */
import * as E from "fp-ts/lib/Either.js";
import { onBatchSignal } from "./batch/step.ts";
import { onCallSignal } from "./call/signal.ts";
import { onCallEvent } from "./call/step.ts";
import { onPublished } from "./catalog/step.ts";
import type { Command } from "./command.ts";
import { Draft } from "./draft.ts";
import { onEffectEvent } from "./effect/step.ts";
import type { Rejection } from "./error.ts";
import type { Envelope, Event } from "./event.ts";
import type { Finished } from "./finished.ts";
import { late } from "./part/at-hand.ts";
import { onBatchEnded, onRequestEvent } from "./request/step.ts";
import { admit } from "./scope/admit.ts";
import { onOpened } from "./scope/step.ts";
import type { Signal } from "./signal.ts";
import type { State } from "./state.ts";

/** What follows from an event. */
export interface Transition {
  readonly state: State;
  readonly commands: readonly Command[];
  /** What left the state, for the journal's finished index. */
  readonly finished: readonly Finished[];
}

const handle = (draft: Draft, event: Event): Rejection | undefined => {
  switch (event.type) {
    case "scope.opened":
      return onOpened(draft, event);
    case "clock.ticked":
      return undefined;
    case "catalog.published":
      return onPublished(draft, event);
    case "request.submitted":
    case "reply.acked":
      return onRequestEvent(draft, event);
    case "args.checked":
    case "call.dispatched":
    case "call.settled":
    case "call.resumed":
      return onCallEvent(draft, event);
    case "effect.requested":
    case "step.settled":
      return onEffectEvent(draft, event);
    default:
      return late.code.onSeldomEvent(draft, event);
  }
};

const route = (draft: Draft, signal: Signal): void => {
  switch (signal.type) {
    case "batch.create":
    case "preparation.ended":
    case "batch.prepared":
    case "call.moved":
    case "batch.counted":
      return onBatchSignal(draft, signal);
    case "calls.create":
    case "calls.prepare":
    case "calls.launch":
    case "owners.lost":
      return onCallSignal(draft, signal);
    case "batch.ended":
      return onBatchEnded(draft, signal);
    default:
      return late.code.onSeldomSignal(draft, signal);
  }
};

const routeAll = (draft: Draft): void => {
  for (let signal = draft.nextSignal(); signal !== undefined; signal = draft.nextSignal()) route(draft, signal);
};

const settle = (draft: Draft): void => {
  routeAll(draft);
  for (let end = draft.nextStepEnd(); end !== undefined; end = draft.nextStepEnd()) {
    late.code.onStepEnded(draft, end);
    routeAll(draft);
  }
};

const passTime = (draft: Draft): void => {
  if (draft.scope.status.type !== "open") return; // A scope that moves keeps what it has as it is.
  for (let count = 0; count < draft.options.expire_at_once; count++) {
    const passed = draft.takePassed();
    if (passed === undefined) return;
    late.code.onDue(draft, passed);
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

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
 * Pure, synchronous and total: the same state and event give the same result on every platform, for ever within one
 * protocol; an event that does not fit is a typed Rejection, and the state stands.
 */
import * as E from "fp-ts/lib/Either.js";
import { onApprovalEvent } from "./approval/step.ts";
import type { BackgroundEvent } from "./background/model.ts";
import { onBatchSignal } from "./batch/step.ts";
import { onCallDue } from "./call/due.ts";
import { onCallSignal } from "./call/signal.ts";
import { onCallEvent } from "./call/step.ts";
import { onCatalogEvent } from "./catalog/step.ts";
import type { Command } from "./command.ts";
import { Draft } from "./draft.ts";
import type { Finished } from "./finished.ts";
import { onEffectEvent, onEffectSignal } from "./effect/step.ts";
import { type Rejection, absurd } from "./error.ts";
import type { Envelope, Event } from "./event.ts";
import type { HandleEvent } from "./handle/model.ts";
import type { LinkEvent } from "./link/model.ts";
import { onOutboxEvent } from "./outbox/step.ts";
import type { lateCode } from "./late-code.ts";
import { late } from "./part/at-hand.ts";
import type { ProcessScopeEvent } from "./process/model.ts";
import { onBatchEnded, onFlowEnded, onRequestEvent, onRequestOpen } from "./request/step.ts";
import type { ScheduleEvent } from "./schedule/model.ts";
import { admit } from "./scope/admit.ts";
import { onScopeEvent } from "./scope/step.ts";
import type { Signal } from "./signal.ts";
import type { State } from "./state.ts";
import { onWaitEvent, onWaitSignal } from "./wait/step.ts";

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
    case "scope.configured":
    case "scope.upgraded":
    case "scope.moving":
    case "scope.received":
    case "scope.moved":
    case "scope.kept":
    case "owner.lost":
    case "clock.ticked":
      return onScopeEvent(draft, event);
    case "catalog.published":
    case "catalog.overridden":
      return onCatalogEvent(draft, event);
    case "request.submitted":
    case "flow.submitted":
    case "request.cancelled":
    case "reply.acked":
      return onRequestEvent(draft, event);
    case "hook.ran":
    case "args.checked":
    case "call.prepared":
    case "call.dispatched":
    case "call.settled":
    case "call.settled_late":
    case "call.suspended":
    case "call.resumed":
    case "call.continued":
    case "call.diverged":
    case "call.cleaned_up":
    case "call.executor_missing":
    case "executors.available":
    case "call.cancelled":
    case "outcome.resolved":
    case "result.projected":
      return onCallEvent(draft, event);
    case "approval.decided":
      return onApprovalEvent(draft, event);
    case "effect.requested":
    case "step.settled":
    case "host.answered":
    case "replies.recorded":
    case "effect.reused":
      return onEffectEvent(draft, event);
    case "wait.resolved":
    case "wait.cancelled":
    case "wait.revoked":
      return onWaitEvent(draft, event);
    case "external.cancel_acked":
    case "wake.acked":
    case "session.told":
      return onOutboxEvent(draft, event);
    case "lambda.applied":
    case "flow.consumer_gone":
      return late.code.onFlowEvent(draft, event);
    default:
      return handleAmongScopes(draft, event);
  }
};

type OfScopes = LinkEvent | ProcessScopeEvent | HandleEvent | BackgroundEvent | ScheduleEvent;

/** What comes from other scopes, and what becomes of processes. */
const handleAmongScopes = (draft: Draft, event: OfScopes): Rejection | undefined => {
  switch (event.type) {
    case "message.received":
    case "message.answered":
    case "link.retired":
      return late.code.onLinkEvent(draft, event);
    case "process.registered":
    case "process.event_appended":
      return late.code.onProcessEvent(draft, event);
    case "handle.granted":
    case "handles.transferred":
    case "handles.revoked":
    case "session.deleted":
      return late.code.onHandleEvent(draft, event);
    default:
      return handleLongWork(draft, event);
  }
};

/** What work does that nobody waits for: tasks, background runs, schedules. */
const handleLongWork = (draft: Draft, event: BackgroundEvent | ScheduleEvent): Rejection | undefined => {
  switch (event.type) {
    case "run.requested":
    case "permit.answered":
    case "run.reported":
    case "artifacts.written":
    case "task.created":
    case "task.updated":
    case "task.cancel_requested":
    case "task.messaged":
      return late.code.onBackgroundEvent(draft, event);
    case "schedule.requested":
    case "schedule.planned":
    case "schedule.cancelled":
    case "probe.answered":
      return late.code.onScheduleEvent(draft, event);
    default:
      return absurd(event);
  }
};

const route = (draft: Draft, signal: Signal): void => {
  switch (signal.type) {
    case "batch.create":
    case "preparation.ended":
    case "batch.prepared":
    case "call.moved":
    case "batch.counted":
    case "batches.cancel":
    case "batches.review":
    case "batch.triggered":
      return onBatchSignal(draft, signal);
    case "calls.create":
    case "calls.prepare":
    case "calls.launch":
    case "calls.cancel":
    case "calls.drop":
    case "calls.decide":
    case "pending.end":
    case "owners.lost":
      return onCallSignal(draft, signal);
    case "batch.ended":
      return onBatchEnded(draft, signal);
    case "request.open":
      return onRequestOpen(draft, signal);
    case "flow.ended":
      return onFlowEnded(draft, signal);
    case "flow.start":
    case "flow.cancel":
      return late.code.onFlowSignal(draft, signal);
    case "effect.end":
    case "effects.expire":
    case "call.left":
      return onEffectSignal(draft, signal);
    case "wait.open":
    case "wait.leave":
    case "wait.close":
    case "waits.forget":
    case "waits.revoke":
    case "wait.claim":
    case "wait.settle":
      return onWaitSignal(draft, signal);
    default:
      return routeAmongScopes(draft, signal);
  }
};

type Among = typeof lateCode;
type AmongScopes =
  | Parameters<Among["onLinkSignal"]>[1]
  | Parameters<Among["onProcessSignal"]>[1]
  | Parameters<Among["onHandleSignal"]>[1]
  | LongWork;
type LongWork = Parameters<Among["onBackgroundSignal"]>[1] | Parameters<Among["onScheduleSignal"]>[1];

/** What processes, their handles and messages tell each other. */
const routeAmongScopes = (draft: Draft, signal: AmongScopes): void => {
  switch (signal.type) {
    case "messages.send":
    case "message.judged":
      return late.code.onLinkSignal(draft, signal);
    case "message.taken":
    case "message.heard":
    case "run.ended":
    case "tools.published":
    case "process.emit":
    case "process.wait":
    case "process.unwait":
    case "process.finish":
      return late.code.onProcessSignal(draft, signal);
    case "handle.grant":
    case "handle.released":
    case "handle.ended":
      return late.code.onHandleSignal(draft, signal);
    default:
      return routeLongWork(draft, signal);
  }
};

const routeLongWork = (draft: Draft, signal: LongWork): void => {
  switch (signal.type) {
    case "run.begin":
    case "run.finish":
    case "run.lost":
    case "run.overtaken":
    case "task.report":
    case "task.refused":
    case "monitor.begin":
    case "monitor.fired":
    case "monitor.ended":
      return late.code.onBackgroundSignal(draft, signal);
    case "schedule.end":
    case "schedules.end":
      return late.code.onScheduleSignal(draft, signal);
    default:
      return absurd(signal);
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
    (passed.of === "call" ? onCallDue : late.code.onScheduleDue)(draft, passed.key);
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

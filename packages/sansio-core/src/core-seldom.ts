/**
 * What only some logs need of the core: the events that calls seldom come to, flows, processes and all that goes between
 * scopes; each to its concern. What all logs need is in `core.ts`.
 */
import { onApprovalEvent } from "./approval/step.ts";
import type { BackgroundEvent } from "./background/model.ts";
import { onBackgroundEvent, onBackgroundSignal } from "./background/step.ts";
import { onSeldomBatchSignal } from "./batch/seldom.ts";
import { onCallDue } from "./call/due.ts";
import { onSeldomCallSignal } from "./call/seldom-signal.ts";
import { onSeldomCallEvent } from "./call/seldom-step.ts";
import { onOverridden } from "./catalog/override.ts";
import type { Passed } from "./deadline.ts";
import type { Draft } from "./draft.ts";
import { onEffectSignal, onSeldomEffectEvent } from "./effect/seldom.ts";
import { type Rejection, absurd } from "./error.ts";
import type { Event, EventOf } from "./event.ts";
import { onFlowEvent, onFlowSignal } from "./flow/step.ts";
import type { HandleEvent } from "./handle/model.ts";
import { onHandleEvent, onHandleSignal } from "./handle/step.ts";
import type { LinkEvent } from "./link/model.ts";
import { onLinkEvent, onLinkSignal } from "./link/step.ts";
import { onOutboxEvent } from "./outbox/step.ts";
import type { ProcessScopeEvent } from "./process/model.ts";
import { onProcessEvent, onProcessSignal } from "./process/step.ts";
import { onFlowEnded, onRequestOpen, onSeldomRequestEvent } from "./request/seldom.ts";
import type { ScheduleEvent } from "./schedule/model.ts";
import { onScheduleDue, onScheduleEvent, onScheduleSignal } from "./schedule/step.ts";
import { onSeldomScopeEvent } from "./scope/seldom.ts";
import type { Signal } from "./signal.ts";
import { onWaitEvent, onWaitSignal } from "./wait/step.ts";

/** What `core.ts` sees to itself. */
export type PlainEventType =
  | "scope.opened"
  | "clock.ticked"
  | "catalog.published"
  | "request.submitted"
  | "reply.acked"
  | "args.checked"
  | "call.dispatched"
  | "call.settled"
  | "call.resumed"
  | "effect.requested"
  | "step.settled";

type SeldomEvent = Exclude<Event, EventOf<PlainEventType>>;

export const onSeldomEvent = (draft: Draft, event: SeldomEvent): Rejection | undefined => {
  switch (event.type) {
    case "scope.configured":
    case "scope.upgraded":
    case "scope.moving":
    case "scope.received":
    case "scope.moved":
    case "scope.kept":
    case "owner.lost":
      return onSeldomScopeEvent(draft, event);
    case "catalog.overridden":
      return onOverridden(draft, event);
    case "flow.submitted":
    case "request.cancelled":
      return onSeldomRequestEvent(draft, event);
    case "hook.ran":
    case "call.prepared":
    case "call.settled_late":
    case "call.suspended":
    case "call.continued":
    case "call.diverged":
    case "call.cleaned_up":
    case "call.executor_missing":
    case "executors.available":
    case "call.cancelled":
    case "outcome.resolved":
    case "result.projected":
      return onSeldomCallEvent(draft, event);
    case "approval.decided":
      return onApprovalEvent(draft, event);
    case "host.answered":
    case "replies.recorded":
    case "effect.reused":
      return onSeldomEffectEvent(draft, event);
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
      return onFlowEvent(draft, event);
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
      return onLinkEvent(draft, event);
    case "process.registered":
    case "process.event_appended":
      return onProcessEvent(draft, event);
    case "handle.granted":
    case "handles.transferred":
    case "handles.revoked":
    case "session.deleted":
      return onHandleEvent(draft, event);
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
      return onBackgroundEvent(draft, event);
    case "schedule.requested":
    case "schedule.planned":
    case "schedule.cancelled":
    case "probe.answered":
      return onScheduleEvent(draft, event);
    default:
      return absurd(event);
  }
};

type PlainSignal =
  | "batch.create"
  | "preparation.ended"
  | "batch.prepared"
  | "call.moved"
  | "batch.counted"
  | "calls.create"
  | "calls.prepare"
  | "calls.launch"
  | "owners.lost"
  | "batch.ended";

type SeldomSignal = Exclude<Signal, { readonly type: PlainSignal }>;

export const onSeldomSignal = (draft: Draft, signal: SeldomSignal): void => {
  switch (signal.type) {
    case "batches.cancel":
    case "batches.review":
    case "batch.triggered":
      return onSeldomBatchSignal(draft, signal);
    case "calls.cancel":
    case "calls.drop":
    case "calls.decide":
    case "pending.end":
      return onSeldomCallSignal(draft, signal);
    case "request.open":
      return onRequestOpen(draft, signal);
    case "flow.ended":
      return onFlowEnded(draft, signal);
    case "flow.start":
    case "flow.cancel":
      return onFlowSignal(draft, signal);
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

type AmongScopes =
  | Parameters<typeof onLinkSignal>[1]
  | Parameters<typeof onProcessSignal>[1]
  | Parameters<typeof onHandleSignal>[1]
  | LongWork;
type LongWork = Parameters<typeof onBackgroundSignal>[1] | Parameters<typeof onScheduleSignal>[1];

/** What processes, their handles and messages tell each other. */
const routeAmongScopes = (draft: Draft, signal: AmongScopes): void => {
  switch (signal.type) {
    case "messages.send":
    case "message.judged":
      return onLinkSignal(draft, signal);
    case "message.taken":
    case "message.heard":
    case "run.ended":
    case "tools.published":
    case "process.emit":
    case "process.wait":
    case "process.unwait":
    case "process.finish":
      return onProcessSignal(draft, signal);
    case "handle.grant":
    case "handle.released":
    case "handle.ended":
      return onHandleSignal(draft, signal);
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
      return onBackgroundSignal(draft, signal);
    case "schedule.end":
    case "schedules.end":
      return onScheduleSignal(draft, signal);
    default:
      return absurd(signal);
  }
};

/** Time has passed for a call, or for a schedule. */
export const onDue = (draft: Draft, { of, key }: Passed): void =>
  (of === "call" ? onCallDue : onScheduleDue)(draft, key);

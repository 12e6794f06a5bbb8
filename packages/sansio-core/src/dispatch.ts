/** Which concern takes which event, and which one hears which signal. */
import { onApprovalEvent } from "./call/approval-step.ts";
import type { BackgroundEvent } from "./run/model.ts";
import { onBackgroundEvent, onBackgroundSignal } from "./run/step.ts";
import { onBatchSignal } from "./call/batch-step.ts";
import { onCallDue } from "./call/due.ts";
import { onCallSignal } from "./call/signal.ts";
import { onCallEvent } from "./call/step.ts";
import { onCatalogEvent } from "./catalog/step.ts";
import type { Passed } from "./kernel/deadline.ts";
import type { Draft } from "./kernel/draft.ts";
import { onEffectSignal } from "./call/effect-signal.ts";
import { onEffectEvent } from "./call/effect-step.ts";
import { type Rejection, absurd } from "./kernel/error.ts";
import type { Event } from "./kernel/event.ts";
import { onFlowEvent, onFlowSignal } from "./flow/step.ts";
import type { HandleEvent } from "./link/handle-model.ts";
import { onHandleEvent, onHandleSignal } from "./link/handle-step.ts";
import type { LinkEvent } from "./link/model.ts";
import { onLinkEvent, onLinkSignal } from "./link/step.ts";
import { onOutboxEvent } from "./link/outbox-step.ts";
import type { ProcessScopeEvent } from "./process/model.ts";
import { onProcessEvent, onProcessSignal } from "./process/step.ts";
import { onRequestEvent, onRequestSignal } from "./request/step.ts";
import type { ScheduleEvent } from "./schedule/model.ts";
import { onScheduleDue, onScheduleEvent, onScheduleSignal } from "./schedule/step.ts";
import { onScopeEvent } from "./scope/step.ts";
import type { Signal } from "./kernel/signal.ts";
import { onWaitEvent, onWaitSignal } from "./wait/step.ts";

export const handle = (draft: Draft, event: Event): Rejection | undefined => {
  switch (event.type) {
    case "scope.opened":
    case "clock.ticked":
    case "scope.configured":
    case "scope.upgraded":
    case "scope.moving":
    case "scope.received":
    case "scope.moved":
    case "scope.kept":
    case "owner.lost":
      return onScopeEvent(draft, event);
    case "catalog.published":
    case "catalog.overridden":
      return onCatalogEvent(draft, event);
    case "request.submitted":
    case "request.cancelled":
    case "reply.acked":
      return onRequestEvent(draft, event);
    case "args.checked":
    case "call.dispatched":
    case "call.settled":
    case "call.resumed":
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
    case "flow.submitted":
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

export const route = (draft: Draft, signal: Signal): void => {
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
    case "owners.lost":
    case "calls.cancel":
    case "calls.drop":
    case "calls.decide":
    case "pending.end":
      return onCallSignal(draft, signal);
    case "batch.ended":
    case "request.open":
    case "flow.ended":
      return onRequestSignal(draft, signal);
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

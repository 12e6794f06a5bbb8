/** What the outside reports of calls. Each handler looks up, decides, and only then writes. */
import type { PendingCompletion, ToolCallOutput } from "@pawl/tool-value";
import { batchesOfCall } from "./nested.ts";
import { type Deadline, deadlineIn } from "../kernel/deadline.ts";
import type { Draft } from "../kernel/draft.ts";
import { type Rejection, absurd, reject } from "../kernel/error.ts";
import type { EventOf } from "../kernel/event.ts";
import type { WaitRow } from "../wait/model.ts";
import { continued, nextAttempt } from "./again.ts";
import { onArgsChecked, onHookRan, onPrepared, onProjected, prepared } from "./answered.ts";
import { cancel, cancelNow } from "./cancel.ts";
import { ending } from "./finish.ts";
import { resuming } from "./launch.ts";
import { type BodyResult, type CallEvent, type CallIn, type CallRow, byBirth, runningRow } from "./model.ts";
import { inPhase, isRejection, misfitOfRun, move } from "./place.ts";
import { diverge, resolve } from "./recover.ts";
import { decideRetry } from "./retry.ts";
import { cleaned, stopLeft } from "./stop.ts";
import { onSuspended } from "./suspend.ts";

type Answer = Rejection | undefined;

const onDispatched = (draft: Draft, event: EventOf<"call.dispatched">): Answer => {
  const row = inPhase(draft, event.call, "running");
  if (isRejection(row)) return row;
  const misfit = misfitOfRun(row, event);
  if (misfit !== undefined) return misfit;
  const { owner, key } = event;
  move(draft, row, key === undefined ? { ...row, owner } : { ...row, owner, key });
  return undefined;
};

/** Its time runs from when the wait begins. */
const dueOfPending = (draft: Draft, { deadline }: PendingCompletion): Deadline | undefined =>
  deadline === undefined ? undefined : deadlineIn(draft, deadline.secs * 1000 + Math.ceil(deadline.nanos / 1_000_000));

const isOver = (wait: WaitRow | undefined): boolean => wait?.terminal !== undefined || wait?.revoked === true;

/** A call that was told to stop does not wait for the outside any more, unless its word is there already. */
const pendingOn = (
  draft: Draft,
  row: CallIn<"running">,
  { key, pending }: Extract<BodyResult, { readonly type: "pending" }>,
  durationMs: number,
): CallRow => {
  const { call, tool, args, observed } = row;
  const due = dueOfPending(draft, pending);
  const next = { call, tool, args, observed, phase: "pending", key, pending, durationMs, due } as const;
  if (row.cancelled !== undefined && !isOver(draft.wait(key))) return cancel(draft, next);
  draft.raise({ type: "wait.open", key, waiter: { call: call.ref }, request: call.request });
  return next;
};

/** A cancelled call that still finishes keeps its outcome, and is not tried again. */
const afterAttempt = (draft: Draft, row: CallIn<"running">, output: ToolCallOutput, durationMs: number): CallRow => {
  const { body } = row;
  const verdict = row.cancelled === undefined ? decideRetry(body.manifest.retry_policy, body.attempt, output) : keep;
  if (verdict.type !== "again")
    return ending(draft, row, verdict.type === "exhausted" ? verdict.output : output, durationMs);
  const delayMs = Number(verdict.delayMs);
  if (delayMs === 0) return nextAttempt(draft, row, body);
  const { call, tool, args, observed } = row;
  const open = body.open.filter((effect) => effect.recovery === "once");
  const due = deadlineIn(draft, delayMs);
  return { call, tool, args, observed, phase: "backing_off", body: { ...body, open }, due };
};
const keep = { type: "keep" } as const;

/** It came after the call had ended without it: observers see it, and nothing changes. */
const onSettledLate = (draft: Draft, event: EventOf<"call.settled_late">): Answer => {
  const { call, output, duration_ms } = event;
  const row = draft.call(call);
  if (row !== undefined && row.phase !== "completed" && row.phase !== "finishing") {
    return reject("call_is_live", `call \`${call}\` is ${row.phase}: report it as call.settled`);
  }
  if (row === undefined) return undefined;
  const { tool, args } = row;
  draft.emit({
    type: "observe",
    what: "call_settled_late",
    call: row.call.ref,
    tool,
    call_id: row.call.id,
    args,
    output,
    duration_ms,
  });
  return undefined;
};

const afterRun = (draft: Draft, row: CallIn<"running">, { result, duration_ms }: EventOf<"call.settled">): CallRow => {
  if (result.type === "pending") return pendingOn(draft, row, result, duration_ms);
  return afterAttempt(draft, row, result.output, duration_ms);
};

const onSettled = (draft: Draft, event: EventOf<"call.settled">): Answer => {
  const row = inPhase(draft, event.call, "running");
  if (isRejection(row)) return row;
  const misfit = misfitOfRun(row, event);
  if (misfit !== undefined) return misfit;
  move(draft, row, afterRun(draft, row, event));
  return undefined;
};

/** A body starts again: this is on record before its first word. */
const onResumed = (draft: Draft, event: EventOf<"call.resumed">): Answer => {
  const row = inPhase(draft, event.call, "resuming");
  if (isRejection(row)) return row;
  const misfit = misfitOfRun(row, event);
  if (misfit !== undefined) return misfit;
  if (row.due !== undefined) return reject("wrong_phase", `call \`${event.call}\` pauses until ${row.due.at}`);
  const cancelled = row.cancelled === undefined ? undefined : stopLeft(draft, row.call.ref, row.cancelled);
  move(draft, row, runningRow(row, row.body, { owner: event.owner, key: undefined, cancelled }));
  return undefined;
};

const onCleanedUp = (draft: Draft, event: EventOf<"call.cleaned_up">): Answer => {
  const row = inPhase(draft, event.call, "running");
  if (isRejection(row)) return row;
  const misfit = misfitOfRun(row, event);
  if (misfit !== undefined) return misfit;
  if (row.cancelled?.cleans !== true) return reject("wrong_phase", `call \`${event.call}\` has nothing to clean up`);
  move(draft, row, cleaned(draft, row, row.cancelled));
  return undefined;
};

/** A report of the current run that changes what becomes of its call; one that was told to stop gets no other run. */
const onRun = (draft: Draft, event: EventOf<"call.continued" | "call.diverged" | "call.executor_missing">): Answer => {
  const row = inPhase(draft, event.call, "running");
  if (isRejection(row)) return row;
  const misfit = misfitOfRun(row, event);
  if (misfit !== undefined) return misfit;
  move(draft, row, row.cancelled === undefined ? afterReport(draft, row, event) : cancelNow(draft, row));
  return undefined;
};

const afterReport = (
  draft: Draft,
  row: CallIn<"running">,
  event: EventOf<"call.continued" | "call.diverged" | "call.executor_missing">,
): CallRow => {
  switch (event.type) {
    case "call.continued":
      return continued(draft, row, event.args);
    case "call.diverged": {
      const detail = `replay diverged at request ${event.position}: expected ${event.expected}, found ${event.found}`;
      return diverge(draft, row, detail);
    }
    case "call.executor_missing": {
      const { call, tool, args, observed, body } = row;
      const due = deadlineIn(draft, draft.options.no_executor_ms);
      return { call, tool, args, observed, phase: "no_executor", body, due };
    }
  }
};

/** Tools have executors again: the calls that waited for one start another run. */
const onExecutors = (draft: Draft, { tools }: EventOf<"executors.available">): undefined => {
  const waiting = draft
    .calls()
    .filter((row): row is CallIn<"no_executor"> => row.phase === "no_executor" && tools.includes(row.body.manifest.id))
    .toSorted(byBirth);
  for (const row of waiting) move(draft, row, resuming(draft, row, { body: row.body, cause: "executor_back" }));
};

const onCancelled = (draft: Draft, event: EventOf<"call.cancelled">): Answer => {
  const row = draft.call(event.call);
  if (row === undefined) return reject("call_unknown", `no live call \`${event.call}\``);
  if (row.phase === "finishing" || row.phase === "completed") {
    return reject("call_ended", `call \`${event.call}\` has an outcome already: finish won over cancel`);
  }
  const after = cancel(draft, row);
  if (after === row) return undefined; // Told already.
  const below = batchesOfCall(draft, row.call.ref);
  if (below.length > 0) draft.raise({ type: "batches.cancel", batches: below });
  if (row.phase === "preparing") return prepared(draft, row, after);
  move(draft, row, after);
  return undefined;
};

const onResolved = (draft: Draft, event: EventOf<"outcome.resolved">): Answer => {
  const row = inPhase(draft, event.call, "unknown");
  if (isRejection(row)) return row;
  move(draft, row, resolve(draft, row, event.resolved));
  return undefined;
};

export const onCallEvent = (draft: Draft, event: CallEvent): Answer => {
  switch (event.type) {
    case "hook.ran":
      return onHookRan(draft, event);
    case "args.checked":
      return onArgsChecked(draft, event);
    case "call.prepared":
      return onPrepared(draft, event);
    case "call.dispatched":
      return onDispatched(draft, event);
    case "call.settled":
      return onSettled(draft, event);
    case "call.resumed":
      return onResumed(draft, event);
    case "call.settled_late":
      return onSettledLate(draft, event);
    case "call.suspended":
      return onSuspended(draft, event);
    case "call.cleaned_up":
      return onCleanedUp(draft, event);
    case "call.continued":
    case "call.diverged":
    case "call.executor_missing":
      return onRun(draft, event);
    case "executors.available":
      return onExecutors(draft, event);
    case "call.cancelled":
      return onCancelled(draft, event);
    case "outcome.resolved":
      return onResolved(draft, event);
    case "result.projected":
      return onProjected(draft, event);
    default:
      return absurd(event);
  }
};

/** Takes what the outside reports of calls. Each handler looks up, decides, and only then writes. */
import type { PendingCompletion } from "@pawl/tool-value";
import { afterAnswer, asPreparing } from "./recovery/absent-tool.ts";
import { backingOff, continued, decideRetry, nextAttempt } from "./launch.ts";
import { afterEdit, afterPrepare } from "./approval.ts";
import { cancel, cancelNow, cleaned, stopLeft } from "./stop.ts";
import { type End, complete, endWith, outputHere, projectEnd, problemOfEnd } from "./finish.ts";
import { afterBeforeHook, afterCheck, afterHooks } from "./prepare.ts";
import { attemptInLife } from "./life.ts";
import type { BodyResult } from "./vocabulary.ts";
import type { CallIn, CallRow } from "./model.ts";
import { parked } from "./recovery/parked.ts";
import { hasFailed, inPhase, isRejection, move, problemOfRun, runningRow, withPatches, withoutRoom } from "./row.ts";
import { batchesOfCall } from "./batch.ts";
import { diverge } from "./recovery/unknown.ts";
import { type Deadline, deadlineIn } from "../kernel/deadline.ts";
import type { Draft } from "../kernel/draft.ts";
import { addVersions, versionIn } from "../scope/model.ts";
import { type Rejection, reject } from "../kernel/error.ts";
import type { EventOf } from "../kernel/vocabulary.ts";
import type { WaitRow } from "../wait/model.ts";

type Answer = Rejection | undefined;

/** A call whose preparation waits for this answer of the outside's. */
const preparing = (
  draft: Draft,
  ref: string,
  waits: CallIn<"preparing">["waits"],
): CallIn<"preparing" | "no_tool"> | Rejection => {
  const row = inPhase(draft, ref, "preparing", "no_tool");
  if (isRejection(row)) return row;
  const isAsked = row.phase === "preparing" || row.due === undefined;
  if (isAsked && row.waits === waits) return row;
  const found = isAsked ? row.waits : "its tool, which is away";
  return reject("wrong_phase", `call \`${ref}\`: its preparation waits for ${found}, not for ${waits}`);
};

export const prepared = (draft: Draft, before: CallIn<"preparing" | "no_tool">, after: CallRow): undefined => {
  if (before.phase === "no_tool") return (move(draft, before, afterAnswer(before, after)), undefined);
  move(draft, before, after);
  if (after.phase !== "preparing") draft.raise({ type: "preparation.ended", batch: before.call.batch });
};

const onBeforeHook = (draft: Draft, event: EventOf<"hook.ran">): Answer => {
  const row = preparing(draft, event.call, "hook");
  return isRejection(row) ? row : prepared(draft, row, afterBeforeHook(draft, asPreparing(row), event.outcome));
};

const finishing = (draft: Draft, ref: string, waits: CallIn<"finishing">["waits"]): CallIn<"finishing"> | Rejection => {
  const row = inPhase(draft, ref, "finishing");
  if (isRejection(row) || row.waits === waits) return row;
  return reject("wrong_phase", `call \`${ref}\`: its end waits for the ${row.waits}, not for the ${waits}`);
};

const onAfterHook = (draft: Draft, event: EventOf<"hook.ran">): Answer => {
  const row = finishing(draft, event.call, "hook");
  if (isRejection(row)) return row;
  const output = afterHooks(row.output, event.outcome);
  const { durationMs, cause, outputAt } = row;
  const end = { output, durationMs, cause, outputAt: output === row.output ? outputAt : undefined };
  move(draft, row, projectEnd(draft, row, end));
  return undefined;
};

const onEditChecked = (draft: Draft, row: CallIn<"awaiting_approval">, event: EventOf<"args.checked">): Answer => {
  const { edited } = row.approval;
  if (edited === undefined) return reject("wrong_phase", `call \`${event.call}\`: no edited arguments are checked`);
  move(draft, row, afterEdit(draft, row, edited.args, event));
  return undefined;
};

export const onPrepared = (draft: Draft, event: EventOf<"call.prepared">): Answer => {
  const row = preparing(draft, event.call, "prepare");
  if (isRejection(row)) return row;
  const { preparation } = event;
  if (preparation.type === "prepared" && preparation.approval !== undefined && row.manifest.waives_approval !== true)
    return reject("wrong_phase", `call \`${event.call}\`: tool \`${row.manifest.name}\` waives no approval`);
  return prepared(draft, row, afterPrepare(draft, asPreparing(row), event.preparation));
};

/** The answer to a check is a preparing call's, or that of arguments which a person edited. */
export const onArgsChecked = (draft: Draft, event: EventOf<"args.checked">): Answer => {
  const row = inPhase(draft, event.call, "preparing", "no_tool", "awaiting_approval");
  if (isRejection(row)) return row;
  if (row.phase === "awaiting_approval") return onEditChecked(draft, row, event);
  const waiting = preparing(draft, event.call, "args");
  return isRejection(waiting)
    ? waiting
    : prepared(draft, waiting, afterCheck(draft, asPreparing(waiting), event.verdict));
};

export const onHookRan = (draft: Draft, event: EventOf<"hook.ran">): Answer =>
  event.phase === "before" ? onBeforeHook(draft, event) : onAfterHook(draft, event);

export const onProjected = (draft: Draft, event: EventOf<"result.projected">): Answer => {
  const row = finishing(draft, event.call, "projection");
  if (isRejection(row)) return row;
  move(draft, row, complete(draft, row, row, event.parts ?? undefined)); // In a reply `null` counts as absent.
  return undefined;
};

export const onDispatched = (draft: Draft, event: EventOf<"call.dispatched">): Answer => {
  const row = inPhase(draft, event.call, "running");
  if (isRejection(row)) return row;
  const problem = problemOfRun(row, event);
  if (problem !== undefined) return problem;
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
const afterAttempt = (draft: Draft, row: CallIn<"running">, { output, durationMs, cause }: End): CallRow => {
  const { body } = row;
  const verdict =
    row.cancelled === undefined ? decideRetry(body.manifest.retry_policy, attemptInLife(body), output) : keep;
  if (verdict.type === "exhausted") return endWith(draft, row, { output: verdict.output, durationMs, cause });
  if (verdict.type === "keep")
    return endWith(draft, row, { output, durationMs, cause, outputAt: outputHere(draft, row) });
  const delayMs = Number(verdict.delayMs);
  if (delayMs === 0) return nextAttempt(draft, row, body);
  return backingOff(row, body, deadlineIn(draft, delayMs));
};
const keep = { type: "keep" } as const;

/** Shows an output to observers that came after the call had ended without it; nothing else changes. */
export const onSettledLate = (draft: Draft, event: EventOf<"call.settled_late">): Answer => {
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

const afterRun = (
  draft: Draft,
  row: CallIn<"running">,
  { result, duration_ms, cause }: EventOf<"call.settled">,
): CallRow => {
  if (result.type === "pending") return pendingOn(draft, row, result, duration_ms);
  return afterAttempt(draft, row, { output: result.output, durationMs: duration_ms, cause });
};

export const onSettled = (draft: Draft, event: EventOf<"call.settled">): Answer => {
  const row = inPhase(draft, event.call, "running");
  if (isRejection(row)) return row;
  const problem = problemOfRun(row, event) ?? problemOfEnd(draft, row, event);
  if (problem !== undefined) return problem;
  move(draft, row, afterRun(draft, withPatches(row, event.patched), event));
  return undefined;
};

/** A version that could not go on with the attempt is not begun with it again; nor could it clean up. */
const afterResume = (draft: Draft, row: CallIn<"resuming">, event: EventOf<"call.resumed">): CallRow => {
  const { owner, version = row.body.version } = event;
  const { cancelled } = row;
  const { id } = row.body.manifest;
  if (version !== undefined && version !== versionIn(draft.scope.versions, id)) addVersions(draft, { [id]: version });
  if (hasFailed(row.body, version))
    return cancelled === undefined ? parked(draft, row, row.body) : cancelNow(draft, row);
  const left = cancelled === undefined ? undefined : stopLeft(draft, row.call.ref, cancelled);
  const resumes = row.cause === "other_version" ? 0 : row.body.resumes; // Other code has crashes of its own.
  return runningRow(
    row,
    { ...row.body, version, resumes, hasRecord: false },
    { owner, key: undefined, cancelled: left },
  );
};

/** A body starts again: this is on record before its first word. */
export const onResumed = (draft: Draft, event: EventOf<"call.resumed">): Answer => {
  const row = inPhase(draft, event.call, "resuming");
  if (isRejection(row)) return row;
  const problem = problemOfRun(row, event);
  if (problem !== undefined) return problem;
  if (row.due !== undefined) return reject("wrong_phase", `call \`${event.call}\` pauses until ${row.due.at}`);
  move(draft, row, afterResume(draft, row, event));
  return undefined;
};

export const onCleanedUp = (draft: Draft, event: EventOf<"call.cleaned_up">): Answer => {
  const row = inPhase(draft, event.call, "running");
  if (isRejection(row)) return row;
  const problem = problemOfRun(row, event);
  if (problem !== undefined) return problem;
  if (row.cancelled?.cleans !== true) return reject("wrong_phase", `call \`${event.call}\` has nothing to clean up`);
  move(draft, row, cleaned(draft, row, row.cancelled));
  return undefined;
};

/** A report of the current run that changes what becomes of its call; one that was told to stop gets no other run. */
export const onRun = (
  draft: Draft,
  event: EventOf<"call.continued" | "call.diverged" | "call.executor_missing">,
): Answer => {
  const row = inPhase(draft, event.call, "running");
  if (isRejection(row)) return row;
  const problem =
    problemOfRun(row, event) ?? (event.type === "call.continued" ? problemOfEnd(draft, row, event) : undefined);
  if (problem !== undefined) return problem;
  move(draft, row, row.cancelled === undefined ? afterReport(draft, row, event) : cancelNow(draft, row));
  return undefined;
};

/** A call that was parked for another version of its tool, and that nobody here runs, is parked again. */
const withoutTool = (draft: Draft, row: CallIn<"running">): CallRow => {
  addVersions(draft, { [row.body.manifest.id]: null });
  return parked(draft, row, row.body);
};

const afterReport = (
  draft: Draft,
  row: CallIn<"running">,
  event: EventOf<"call.continued" | "call.diverged" | "call.executor_missing">,
): CallRow => {
  switch (event.type) {
    case "call.continued":
      return continued(draft, row, event);
    case "call.diverged":
      return diverge(draft, row, event);
    case "call.executor_missing": {
      const { call, tool, args, observed, body } = row;
      if (body.failed.length > 0) return withoutTool(draft, row);
      const due = deadlineIn(draft, draft.options.no_executor_ms);
      return { call, tool, args, observed, phase: "no_executor", body: withoutRoom(body), due };
    }
  }
};

export const onCancelled = (draft: Draft, event: EventOf<"call.cancelled">): Answer => {
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
  if (row.phase === "requested" && row.due !== undefined) draft.raise({ type: "calls.prepare", batch: row.call.batch }); // Its batch was to go on from it.
  return undefined;
};

/** Stops bodies. Cancel against finish: one of them wins, by its place in the log. */
import { pauseOver, resuming } from "./launch.ts";
import { outputOfPending } from "./deadlines.ts";
import { cancelledOf, complete, ending, internal } from "./finish.ts";
import type { CallIn, CallRow, Stop } from "./model.ts";
import { bodyOf, closeKey, runningRow } from "./row.ts";
import { batchesOfCall, withNested } from "./batch.ts";
import { deadlineIn } from "../kernel/deadline.ts";
import type { Draft } from "../kernel/draft.ts";
import type { CallRef } from "../kernel/vocabulary.ts";

const isCleaning = (row: CallRow | undefined): boolean =>
  (row?.phase === "running" || row?.phase === "resuming") && row.cancelled?.cleans === true;

const hasCleanup = (row: CallRow | undefined): boolean =>
  row !== undefined && (bodyOf(row)?.open ?? []).some(({ kind }) => kind === "cleanup");

const isAtWork = (row: CallRow | undefined): boolean => row?.phase === "running" || row?.phase === "resuming";

type Is = (row: CallRow | undefined) => boolean;

/** Returns whether the test holds for any call below a call, at any depth. */
const isBelow = (draft: Draft, call: CallRef, is: Is): boolean =>
  withNested(draft, batchesOfCall(draft, call))
    .flatMap((batch) => draft.batch(batch)?.calls ?? [])
    .some((child) => is(draft.call(child)));

const graceUnless = (draft: Draft, isBusy: boolean): Stop["due"] =>
  isBusy ? undefined : deadlineIn(draft, draft.options.grace_ms);

/** Tells the clean-ups of a body that its call is to stop; those below are told with it. */
export const stop = (draft: Draft, row: CallIn<"running" | "suspended" | "resuming">): Stop => {
  const { ref } = row.call;
  const own = row.body.open.filter(({ kind }) => kind === "cleanup");
  for (const { key } of own) draft.raise({ type: "effect.end", call: ref, key, status: "ok", value: draft.seq });
  const isBusy = own.length > 0 || isBelow(draft, ref, (child) => isCleaning(child) || hasCleanup(child));
  return { seq: draft.seq, cleans: own.length > 0, due: graceUnless(draft, isBusy) };
};

/** Returns what is left of a stop: only the grace, if the body and all that it called are clean. */
export const stopLeft = (draft: Draft, call: CallRef, { seq, cleans }: Stop): Stop => ({
  seq,
  cleans,
  due: graceUnless(draft, cleans || isBelow(draft, call, isCleaning)),
});

/** The body has cleaned up, or has heard of what it called. */
export const cleaned = (draft: Draft, row: CallIn<"running">, stopped: Stop): CallIn<"running"> =>
  runningRow(row, row.body, { ...row, cancelled: stopLeft(draft, row.call.ref, { ...stopped, cleans: false }) });

// Cancelling.

/** A running body is told, and may still finish while its grace lasts. */
const tell = (draft: Draft, row: CallIn<"running">): CallRow => {
  if (row.cancelled !== undefined) return row;
  const { attempt, run } = row.body;
  draft.emit({ type: "tool.cancel", call: row.call.ref, attempt, run });
  return runningRow(row, row.body, { ...row, cancelled: stop(draft, row) });
};

/**
 * A body that is not at work runs again if it, or what it has called, has clean-up to do; without a pause. What it has
 * called and is at work has its grace, and the body hears what came of it.
 */
const wake = (draft: Draft, row: CallIn<"suspended" | "resuming">): CallRow => {
  if (row.phase === "resuming" && row.cancelled !== undefined) return row;
  const isWaitedFor = row.phase === "suspended" && isBelow(draft, row.call.ref, isAtWork);
  const stopped = stop(draft, row);
  const cancelled = isWaitedFor ? { ...stopped, due: undefined } : stopped;
  if (cancelled.due !== undefined) return cancelNow(draft, row);
  if (row.phase === "suspended") return resuming(draft, row, { body: row.body, cause: "cancelled", cancelled });
  return { ...(row.due === undefined ? row : pauseOver(draft, row)), cancelled };
};

/** The outside is no longer waited for; the host is asked to end it where the tool said so. */
const leaveOutside = (draft: Draft, { call, key, pending }: CallIn<"pending">): void => {
  if (pending.on_cancel !== "cancel_external_work") return;
  draft.putOutbox({ type: "external.cancel", call: call.ref, key, born: draft.seq });
  draft.emit({ type: "external.cancel", call: call.ref, key });
};

const cancelPending = (draft: Draft, row: CallIn<"pending">): CallRow => {
  const resolution = { status: "cancelled" } as const;
  leaveOutside(draft, row);
  closeKey(draft, row, row.key, resolution);
  return ending(draft, row, outputOfPending(row, resolution), row.durationMs);
};

const cancelSleep = (draft: Draft, row: CallIn<"backing_off">): CallRow => {
  const failed = `retry sleep for tool \`${row.tool}\` failed after attempt ${row.body.attempt}`;
  const why = "runtime_effect_sleep_cancelled: runtime effect sleep was cancelled";
  const output = internal("tool_retry_sleep_failed", `${failed}: ${why}`);
  return ending(draft, row, output, draft.at - row.body.startedAt);
};

/** Ends a call without a word from its tool. */
export const cancelNow = (draft: Draft, row: CallRow): CallRow =>
  complete(draft, row, { output: cancelledOf(draft, row), durationMs: 0 });

/** The row of a call that is told to stop. What is not started never starts; what is ending ends. */
export const cancel = (draft: Draft, row: CallRow): CallRow => {
  switch (row.phase) {
    case "finishing":
    case "completed":
      return row;
    case "running":
      return tell(draft, row);
    case "suspended":
    case "resuming":
      return wake(draft, row);
    case "pending":
      return cancelPending(draft, row);
    case "backing_off":
      return cancelSleep(draft, row);
    default:
      return cancelNow(draft, row);
  }
};

/** Ends a call whose caller is gone: told and observed, with the outcome that it has, if it has one. */
export const drop = (draft: Draft, row: CallRow): void => {
  if (row.phase === "completed") return;
  if (row.phase === "finishing") return void complete(draft, row, row);
  if (row.phase === "running" && row.cancelled === undefined) {
    draft.emit({ type: "tool.cancel", call: row.call.ref, attempt: row.body.attempt, run: row.body.run });
  }
  const key = row.phase === "running" || row.phase === "pending" ? row.key : undefined;
  if (row.phase === "pending") leaveOutside(draft, row);
  if (key !== undefined) closeKey(draft, row, key, { status: "cancelled" });
  const room = bodyOf(row)?.room;
  if (room !== undefined) draft.raise({ type: "link.freed", to: room });
  cancelNow(draft, row);
};

/** Stops bodies. Cancel against finish: one of them wins, by its place in the log. A body that only waits is suspended. */
import { pauseOver, resuming } from "./launch.ts";
import { outputOfPending } from "./deadlines.ts";
import type { OpenEffect } from "./effect.ts";
import { cancelledCall, complete, ending, internal } from "./finish.ts";
import type { BodyState, CallIn, CallRow, Stop } from "./model.ts";
import { bodyOf, closeKey, earliestDue, inPhase, isRejection, move, problemOfRun, runningRow } from "./row.ts";
import { batchesOfCall, withNested } from "./batch.ts";
import { recoveryOf } from "../catalog/model.ts";
import { deadlineIn } from "../kernel/deadline.ts";
import type { Draft } from "../kernel/draft.ts";
import { type Rejection, reject } from "../kernel/error.ts";
import type { CallRef, EventOf } from "../kernel/vocabulary.ts";

const isCleaning = (row: CallRow | undefined): boolean =>
  (row?.phase === "running" || row?.phase === "resuming") && row.cancelled?.cleans === true;

const hasCleanup = (row: CallRow | undefined): boolean =>
  row !== undefined && (bodyOf(row)?.open ?? []).some(({ kind }) => kind === "cleanup");

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

/** A body that is not at work runs again if it, or what it has called, has clean-up to do; without a pause. */
const wake = (draft: Draft, row: CallIn<"suspended" | "resuming">): CallRow => {
  if (row.phase === "resuming" && row.cancelled !== undefined) return row;
  const cancelled = stop(draft, row);
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
  complete(draft, row, { output: cancelledCall, durationMs: 0 });

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
  cancelNow(draft, row);
};

// Bodies that only wait are dropped, and start again when something comes.

const isCleanup = ({ kind }: OpenEffect): boolean => kind === "cleanup";

const isSuspendable = ({ manifest, open }: BodyState): boolean =>
  recoveryOf(manifest) === "rerunnable" &&
  !open.every(isCleanup) &&
  open.every(
    ({ kind, due }) =>
      // A step that is due waits for its next try.
      kind === "wait" || kind === "sleep" || kind === "select" || kind === "cleanup" || due !== undefined,
  );

/** Returns whether the body has an answer that it has not heard: deadlines pass before the event that suspends it. */
const isJustAnswered = (draft: Draft, call: CallRef): boolean =>
  draft.commands.some((command) => command.type === "step.answer" && command.call === call);

export const onSuspended = (draft: Draft, event: EventOf<"call.suspended">): Rejection | undefined => {
  const row = inPhase(draft, event.call, "running");
  if (isRejection(row)) return row;
  const problem = problemOfRun(row, event);
  if (problem !== undefined) return problem;
  if (event.parked !== undefined) return park(draft, row, event.parked);
  if (row.cancelled !== undefined || !isSuspendable(row.body)) {
    return reject(
      "wrong_phase",
      `call \`${event.call}\` may not be suspended: it waits for more than waits and sleeps`,
    );
  }
  if (isJustAnswered(draft, row.call.ref))
    return reject("wrong_phase", `call \`${event.call}\` may not be suspended: it has an answer to hear`);
  move(draft, row, suspended(row, row.body));
  return undefined;
};

const suspended = ({ call, tool, args, observed }: CallRow, body: BodyState): CallIn<"suspended"> => ({
  call,
  tool,
  args,
  observed,
  phase: "suspended",
  body,
  due: earliestDue(body.open),
});

/** A body that has ended and is to run again does so whatever its recovery; all else is left, but what it does when it is cancelled. */
const park = (draft: Draft, row: CallIn<"running">, key: string): Rejection | undefined => {
  const wait = row.body.open.find((effect) => effect.key === key && effect.kind === "wait");
  if (wait === undefined) return reject("not_a_waiter", `call \`${row.call.ref}\` does not wait under \`${key}\``);
  const open = row.body.open.filter((effect) => effect === wait || isCleanup(effect));
  move(draft, row, row.cancelled === undefined ? suspended(row, { ...row.body, open }) : cancelNow(draft, row));
  return undefined;
};

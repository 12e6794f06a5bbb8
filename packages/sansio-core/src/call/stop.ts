/** What a call that is told to stop may still do: clean up, for as long as it said; then finish, while its grace lasts. */
import { batchesOfCall, withNested } from "./nested.ts";
import { deadlineIn } from "../kernel/deadline.ts";
import type { Draft } from "../kernel/draft.ts";
import type { CallRef } from "../kernel/ids.ts";
import { type CallIn, type CallRow, type Stop, bodyOf, runningRow } from "./model.ts";

const isCleaning = (row: CallRow | undefined): boolean =>
  (row?.phase === "running" || row?.phase === "resuming") && row.cancelled?.cleans === true;

const hasCleanup = (row: CallRow | undefined): boolean =>
  row !== undefined && (bodyOf(row)?.open ?? []).some(({ kind }) => kind === "cleanup");

type Is = (row: CallRow | undefined) => boolean;

/** Whether this is so of something that a call has called, at any depth. */
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

/** What is left of a stop: nothing but the grace, if the body and all that it called are clean. */
export const stopLeft = (draft: Draft, call: CallRef, { seq, cleans }: Stop): Stop => ({
  seq,
  cleans,
  due: graceUnless(draft, cleans || isBelow(draft, call, isCleaning)),
});

/** The body has cleaned up, or has heard of what it called. */
export const cleaned = (draft: Draft, row: CallIn<"running">, stopped: Stop): CallIn<"running"> =>
  runningRow(row, row.body, { ...row, cancelled: stopLeft(draft, row.call.ref, { ...stopped, cleans: false }) });

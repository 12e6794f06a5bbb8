/**
 * Queues: a tool may let only so many of its bodies run at a time, over all scopes and hosts of a store. The store has the
 * places. The core asks for one where a call is to begin, and begins it once its place is on record.
 *
 *   ready ──a slot of its batch──▶ queued ──place.granted──▶ running
 *   backing_off ──its pause is over──▶ backing_off without a deadline ──place.granted──▶ running, the next attempt
 *
 * First the slot, then the place: a call that had its place and waited for a slot could keep it from the one that has
 * the slot. A call that waits has not begun: whoever loses it asks again, and nothing counts as a crash. A body that starts
 * again needs a place too. Its driver keeps `tool.execute` back until there is one, and the call is `resuming` meanwhile.
 */
import type { Draft } from "../kernel/draft.ts";
import { type Rejection, reject } from "../kernel/error.ts";
import type { Command, EventOf } from "../kernel/vocabulary.ts";
import { absentAtLaunch, awaitsTool } from "./recovery/absent-tool.ts";
import { launchWithPlace, nextAttemptWithPlace } from "./launch.ts";
import type { CallIn, CallRow } from "./model.ts";
import { inPhase, isRejection, move, queuedAttempt } from "./row.ts";

type Queued = CallIn<"queued" | "backing_off">;

const begun = (draft: Draft, row: Queued): CallRow => {
  if (row.phase === "backing_off") return nextAttemptWithPlace(draft, row, row.body);
  const ready = { ...row, phase: "ready" } as const;
  return awaitsTool(draft, ready) ? absentAtLaunch(draft, ready) : launchWithPlace(draft, ready);
};

/** The call has a place: its body begins, if its tool is still there. */
export const onPlaceGranted = (draft: Draft, { call, attempt }: EventOf<"place.granted">): Rejection | undefined => {
  const row = inPhase(draft, call, "queued", "backing_off");
  if (isRejection(row)) return row;
  const waiting = queuedAttempt(row);
  if (waiting === undefined) return reject("wrong_phase", `call \`${call}\` waits for no place: its pause is not over`);
  if (waiting !== attempt)
    return reject("stale_run", `call \`${call}\`: expected a place for attempt ${waiting}, found attempt ${attempt}`);
  move(draft, row, begun(draft, row));
  return undefined;
};

/** The place that a call waits for, asked for again after a loss. */
export const placeToTake = (row: CallRow): Command | undefined => {
  const attempt = queuedAttempt(row);
  return attempt === undefined ? undefined : { type: "place.take", call: row.call.ref, attempt };
};

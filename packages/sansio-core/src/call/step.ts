/**
 * What the outside reports of calls that run as most do; all else is in `seldom.ts`. Each handler looks up, decides, and
 * only then writes.
 */
import type { Draft } from "../draft.ts";
import { type Rejection, absurd, reject } from "../error.ts";
import type { EventOf } from "../event.ts";
import { late } from "../part/needed.ts";
import { ending } from "./finish.ts";
import { type CallIn, type CallRow, runningRow } from "./model.ts";
import { inPhase, isRejection, misfitOfRun, move } from "./place.ts";
import { afterCheck } from "./prepare.ts";

export type Answer = Rejection | undefined;

/** A call whose preparation waits for this answer of the outside's. */
export const preparing = (
  draft: Draft,
  ref: string,
  waits: CallIn<"preparing">["waits"],
): CallIn<"preparing"> | Rejection => {
  const row = inPhase(draft, ref, "preparing");
  if (isRejection(row) || row.waits === waits) return row;
  return reject("wrong_phase", `call \`${ref}\`: its preparation waits for ${row.waits}, not for ${waits}`);
};

export const prepared = (draft: Draft, before: CallIn<"preparing">, after: CallRow): undefined => {
  move(draft, before, after);
  if (after.phase !== "preparing") draft.raise({ type: "preparation.ended", batch: before.call.batch });
};

/** The answer to a check is a preparing call's, or that of arguments which a person edited. */
const onArgsChecked = (draft: Draft, event: EventOf<"args.checked">): Answer => {
  const row = inPhase(draft, event.call, "preparing", "awaiting_approval");
  if (isRejection(row)) return row;
  if (row.phase === "awaiting_approval") return late.code.onEditChecked(draft, row, event);
  const waiting = preparing(draft, event.call, "args");
  return isRejection(waiting) ? waiting : prepared(draft, waiting, afterCheck(draft, waiting, event.verdict));
};

const onDispatched = (draft: Draft, event: EventOf<"call.dispatched">): Answer => {
  const row = inPhase(draft, event.call, "running");
  if (isRejection(row)) return row;
  const misfit = misfitOfRun(row, event);
  if (misfit !== undefined) return misfit;
  const { owner, key } = event;
  move(draft, row, key === undefined ? { ...row, owner } : { ...row, owner, key });
  return undefined;
};

/** Most tools are not tried again. */
const afterRun = (draft: Draft, row: CallIn<"running">, { result, duration_ms }: EventOf<"call.settled">): CallRow => {
  if (result.type === "pending") return late.code.pendingOn(draft, row, result, duration_ms);
  if (row.body.manifest.retry_policy.type === "never") return ending(draft, row, result.output, duration_ms);
  return late.code.afterAttempt(draft, row, result.output, duration_ms);
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
  const cancelled = row.cancelled === undefined ? undefined : late.code.stopLeft(draft, row.call.ref, row.cancelled);
  move(draft, row, runningRow(row, row.body, { owner: event.owner, key: undefined, cancelled }));
  return undefined;
};

type PlainEvent = EventOf<"args.checked" | "call.dispatched" | "call.settled" | "call.resumed">;

export const onCallEvent = (draft: Draft, event: PlainEvent): Answer => {
  switch (event.type) {
    case "args.checked":
      return onArgsChecked(draft, event);
    case "call.dispatched":
      return onDispatched(draft, event);
    case "call.settled":
      return onSettled(draft, event);
    case "call.resumed":
      return onResumed(draft, event);
    default:
      return absurd(event);
  }
};

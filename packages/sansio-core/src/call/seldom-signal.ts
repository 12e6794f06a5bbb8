/** What calls seldom do when another concern says so: they are cancelled, dropped, decided on, completed from outside. */
import type { Draft } from "../draft.ts";
import { absurd } from "../error.ts";
import { cancel, drop } from "./cancel.ts";
import { outputOfPending } from "./due.ts";
import { ending, project } from "./finish.ts";
import { internal } from "./output.ts";
import { known, move, place } from "./place.ts";
import { unpark } from "./park.ts";
import { type Of, addUp, inOrder, nothing } from "./signal.ts";

const onCancel = (draft: Draft, { batch, calls }: Of<"calls.cancel">): void => {
  let sum = nothing;
  for (const ref of calls) {
    const row = known(draft, ref);
    const after = cancel(draft, row);
    if (after !== row) sum = addUp(sum, place(draft, row, after));
  }
  draft.raise({
    type: "batch.counted",
    batch,
    parallel: 0,
    serial: 0,
    occupied: sum.occupied,
    completed: sum.completed,
  });
};

/** Ends what a body that is over had begun: told, observed, and gone. */
const onDrop = (draft: Draft, { batches }: Of<"calls.drop">): void => {
  for (const batch of batches) {
    for (const ref of draft.batch(batch)?.calls ?? []) {
      drop(draft, known(draft, ref));
      draft.dropCall(ref);
    }
    draft.dropBatch(batch);
  }
};

const revoked = internal(
  "pending_tool_completion_failed",
  "await_event_unknown_or_revoked: await-event key is invalid or revoked",
);

const onPendingEnd = (draft: Draft, { call, resolution }: Of<"pending.end">): void => {
  const row = draft.call(call);
  if (row?.phase !== "pending") return; // It has ended by this event, with its batch or its body.
  const after =
    resolution === "revoked"
      ? project(draft, row, revoked, row.durationMs)
      : ending(draft, row, outputOfPending(row, resolution), row.durationMs);
  move(draft, row, after);
};

/** A sticky decision is applied to the calls of its tool that are parked now. */
const onDecide = (draft: Draft, { tool }: Of<"calls.decide">): void => {
  for (const row of inOrder(draft, "awaiting_approval")) {
    if (row.manifest.id === tool && row.approval.edited === undefined) move(draft, row, unpark(draft, row));
  }
};

export const onSeldomCallSignal = (
  draft: Draft,
  signal: Of<"calls.cancel" | "calls.drop" | "calls.decide" | "pending.end">,
): void => {
  if ("batch" in signal && draft.batch(signal.batch) === undefined) return; // Dropped by this event, with its body.
  switch (signal.type) {
    case "calls.cancel":
      return onCancel(draft, signal);
    case "calls.drop":
      return onDrop(draft, signal);
    case "calls.decide":
      return onDecide(draft, signal);
    case "pending.end":
      return onPendingEnd(draft, signal);
    default:
      return absurd(signal);
  }
};

/** Batches that are cancelled, looked at again, or had something triggered in them. */
import type { Draft } from "../draft.ts";
import { absurd } from "../error.ts";
import { batchAt, mayLaunch } from "./model.ts";
import type { Of } from "./step.ts";

const onCancel = (draft: Draft, { batches }: Of<"batches.cancel">): void => {
  for (const ref of batches) {
    const row = batchAt(draft, ref);
    if (row.phase === "ended") continue;
    draft.putBatch({ ...row, phase: "cancelling" });
    draft.raise({ type: "calls.cancel", batch: ref, calls: row.calls });
  }
};

/** Oldest first, so that what is launched hangs on data alone. */
const onReview = (draft: Draft): void => {
  for (const row of draft.batches().toSorted((a, b) => a.born - b.born || (a.ref < b.ref ? -1 : 1))) {
    if (mayLaunch(row, draft.options.concurrency)) draft.raiseLaunch(row.ref);
  }
};

export const onSeldomBatchSignal = (
  draft: Draft,
  signal: Of<"batches.cancel" | "batches.review" | "batch.triggered">,
): void => {
  if ("batch" in signal && draft.batch(signal.batch) === undefined) return; // Dropped by this event, with its body.
  switch (signal.type) {
    case "batches.review":
      return onReview(draft);
    case "batches.cancel":
      return onCancel(draft, signal);
    case "batch.triggered": {
      const row = batchAt(draft, signal.batch);
      return draft.putBatch({ ...row, triggers: [...row.triggers, signal.occurrence] });
    }
    default:
      return absurd(signal);
  }
};

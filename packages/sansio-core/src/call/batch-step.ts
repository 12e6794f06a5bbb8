/** Batches prepare, launch and end. They count; the calls themselves are the business of `call/`. */
import { withNested } from "./nested.ts";
import type { Draft } from "../kernel/draft.ts";
import { absurd } from "../kernel/error.ts";
import { type CallRef, callRef } from "../kernel/ids.ts";
import type { Signal } from "../kernel/signal.ts";
import { type BatchRow, batchAt, mayLaunch } from "./batch-model.ts";

type Of<T extends Signal["type"]> = Extract<Signal, { readonly type: T }>;

const onCreate = (draft: Draft, { ref, request, prefix, parent, step, calls }: Of<"batch.create">): void => {
  draft.putBatch({
    ref,
    request,
    born: draft.seq,
    ...(parent === undefined ? {} : { parent }),
    ...(step === undefined ? {} : { step }),
    calls: calls.map(({ id }) => callRef(request, prefix + id)),
    phase: "preparing",
    prepared: 0,
    parallel: [],
    serial: [],
    launchedParallel: 0,
    launchedSerial: 0,
    occupied: 0,
    unfinished: calls.length,
    triggers: [],
  });
  draft.raise({ type: "calls.create", batch: ref, request, prefix, calls });
  draft.raise({ type: "calls.prepare", batch: ref });
};

/** The ready calls of a batch, parallel and serial ones apart. */
const ready = (draft: Draft, calls: readonly CallRef[]): Pick<BatchRow, "parallel" | "serial"> => {
  const parallel: CallRef[] = [];
  const serial: CallRef[] = [];
  for (const ref of calls) {
    const row = draft.call(ref);
    if (row?.phase === "ready") (row.manifest.scheduling === "serial" ? serial : parallel).push(ref);
  }
  return { parallel, serial };
};

/** Writes the row, which has ended where nothing in it is unfinished; says whether it has. */
const close = (draft: Draft, row: BatchRow): boolean => {
  const isOver = row.unfinished === 0 && (row.phase === "running" || row.phase === "cancelling");
  draft.putBatch(isOver ? { ...row, phase: "ended" } : row);
  if (isOver) draft.raise({ type: "batch.ended", batch: row.ref });
  return isOver;
};

/** Writes the row, and launches what it allows. */
const advance = (draft: Draft, row: BatchRow): void => {
  const isOver = close(draft, row);
  if (!isOver && mayLaunch(row, draft.options.concurrency)) draft.raiseLaunch(row.ref);
};

const onPrepared = (draft: Draft, row: BatchRow): void => {
  if (row.phase !== "preparing" || row.prepared < row.calls.length) draft.putBatch(row);
  else advance(draft, { ...row, phase: "running", ...ready(draft, row.calls) });
};

const onPreparationEnded = (draft: Draft, { batch }: Of<"preparation.ended">): void => {
  const row = batchAt(draft, batch);
  const next = { ...row, prepared: row.prepared + 1 };
  onPrepared(draft, next);
  if (next.phase === "preparing" && next.prepared < next.calls.length) draft.raise({ type: "calls.prepare", batch });
};

const counted = (row: BatchRow, { occupied, completed }: Of<"batch.counted" | "call.moved">): BatchRow => ({
  ...row,
  occupied: row.occupied + occupied,
  unfinished: row.unfinished - completed,
});

const withReadied = (draft: Draft, row: BatchRow, readied: CallRef | undefined): BatchRow => {
  if (readied === undefined || row.phase === "preparing") return row;
  const { parallel, serial } = ready(draft, [readied]);
  return { ...row, parallel: [...row.parallel, ...parallel], serial: [...row.serial, ...serial] };
};

const onCounted = (draft: Draft, signal: Of<"batch.counted">): void => {
  const row = counted(batchAt(draft, signal.batch), signal);
  close(draft, {
    ...row,
    launchedParallel: row.launchedParallel + signal.parallel,
    launchedSerial: row.launchedSerial + signal.serial,
  });
};

const onCancel = (draft: Draft, { batches }: Of<"batches.cancel">): void => {
  for (const ref of withNested(draft, batches)) {
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

const onTriggered = (draft: Draft, { batch, occurrence }: Of<"batch.triggered">): void => {
  const row = batchAt(draft, batch);
  draft.putBatch({ ...row, triggers: [...row.triggers, occurrence] });
};

export const onBatchSignal = (
  draft: Draft,
  signal: Of<
    | "batch.create"
    | "preparation.ended"
    | "batch.prepared"
    | "call.moved"
    | "batch.counted"
    | "batches.cancel"
    | "batches.review"
    | "batch.triggered"
  >,
): void => {
  if ("batch" in signal && draft.batch(signal.batch) === undefined) return; // Dropped by this event, with its body.
  switch (signal.type) {
    case "batch.create":
      return onCreate(draft, signal);
    case "preparation.ended":
      return onPreparationEnded(draft, signal);
    case "batch.prepared": {
      const row = batchAt(draft, signal.batch);
      const { count, completed } = signal;
      return onPrepared(draft, { ...row, prepared: row.prepared + count, unfinished: row.unfinished - completed });
    }
    case "call.moved": {
      const row = counted(batchAt(draft, signal.batch), signal);
      return advance(draft, withReadied(draft, row, signal.readied));
    }
    case "batch.counted":
      return onCounted(draft, signal);
    case "batches.review":
      return onReview(draft);
    case "batches.cancel":
      return onCancel(draft, signal);
    case "batch.triggered":
      return onTriggered(draft, signal);
    default:
      return absurd(signal);
  }
};

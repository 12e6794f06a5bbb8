/** Batches prepare, launch and end. They count; the calls themselves are the business of `call/`. */
import { withNested } from "./nested.ts";
import type { Draft } from "../kernel/draft.ts";
import { type CallRef, callRef } from "../kernel/ids.ts";
import type { SignalOf } from "../kernel/signal.ts";
import { type BatchRow, batchAt, mayLaunch } from "./batch-model.ts";

export const onBatchCreate = (
  draft: Draft,
  { ref, request, prefix, parent, step, calls }: SignalOf<"batch.create">,
): void => {
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

const put = (draft: Draft, row: BatchRow): void => {
  if (row.phase !== "preparing" || row.prepared < row.calls.length) draft.putBatch(row);
  else advance(draft, { ...row, phase: "running", ...ready(draft, row.calls) });
};

export const onPreparationEnded = (draft: Draft, { batch }: SignalOf<"preparation.ended">): void => {
  const row = batchAt(draft, batch);
  const next = { ...row, prepared: row.prepared + 1 };
  put(draft, next);
  if (next.phase === "preparing" && next.prepared < next.calls.length) draft.raise({ type: "calls.prepare", batch });
};

const counted = (row: BatchRow, { occupied, completed }: SignalOf<"batch.counted" | "call.moved">): BatchRow => ({
  ...row,
  occupied: row.occupied + occupied,
  unfinished: row.unfinished - completed,
});

const withReadied = (draft: Draft, row: BatchRow, readied: CallRef | undefined): BatchRow => {
  if (readied === undefined || row.phase === "preparing") return row;
  const { parallel, serial } = ready(draft, [readied]);
  return { ...row, parallel: [...row.parallel, ...parallel], serial: [...row.serial, ...serial] };
};

export const onBatchPrepared = (draft: Draft, { batch, count, completed }: SignalOf<"batch.prepared">): void => {
  const row = batchAt(draft, batch);
  put(draft, { ...row, prepared: row.prepared + count, unfinished: row.unfinished - completed });
};

export const onCallMoved = (draft: Draft, signal: SignalOf<"call.moved">): void => {
  const row = counted(batchAt(draft, signal.batch), signal);
  advance(draft, withReadied(draft, row, signal.readied));
};

export const onBatchCounted = (draft: Draft, signal: SignalOf<"batch.counted">): void => {
  const row = counted(batchAt(draft, signal.batch), signal);
  close(draft, {
    ...row,
    launchedParallel: row.launchedParallel + signal.parallel,
    launchedSerial: row.launchedSerial + signal.serial,
  });
};

export const onBatchesCancel = (draft: Draft, { batches }: SignalOf<"batches.cancel">): void => {
  for (const ref of withNested(draft, batches)) {
    const row = batchAt(draft, ref);
    if (row.phase === "ended") continue;
    draft.putBatch({ ...row, phase: "cancelling" });
    draft.raise({ type: "calls.cancel", batch: ref, calls: row.calls });
  }
};

/** Oldest first, so that what is launched hangs on data alone. */
export const onBatchesReview = (draft: Draft): void => {
  for (const row of draft.batches().toSorted((a, b) => a.born - b.born || (a.ref < b.ref ? -1 : 1))) {
    if (mayLaunch(row, draft.options.concurrency)) draft.raiseLaunch(row.ref);
  }
};

export const onBatchTriggered = (draft: Draft, { batch, occurrence }: SignalOf<"batch.triggered">): void => {
  const row = batchAt(draft, batch);
  draft.putBatch({ ...row, triggers: [...row.triggers, occurrence] });
};

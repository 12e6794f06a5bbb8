/**
 * A batch: calls that were made together. The top one is a request; a body makes others.
 *
 *   preparing ─▶ running ─▶ ended
 *       └────────────┴─▶ cancelling ─▶ ended
 *
 * Preparation is sequential and precedes execution. Then all parallel calls run, and when these have settled or are
 * parked, the serial ones one at a time, in their order. Replies keep the order of the request. The replies of a
 * body's batch are recorded as the value of its effect before the batch leaves the state.
 *
 * Invariants
 *   B1  the calls of a batch are live until it ends, and each names it
 *   B2  `unfinished` is the number of its calls that are not completed
 *   B3  `occupied` is the number of its calls that hold a slot
 *   B4  no more calls hold a slot than `concurrency` allows, but for those that an answer from outside woke
 *   B5  a batch that is cancelling launches nothing; who runs in it was told to stop
 *   B6  a batch has ended as soon as it is prepared and nothing is unfinished
 *   B7  a call that is due to be prepared or launched is the next one of its batch
 */
import type { Json } from "@pawl/tool-value";
import type { CallRow } from "./model.ts";
import { bodyOf, putCall } from "./row.ts";
import { deadlineIn } from "../kernel/deadline.ts";
import type { Draft } from "../kernel/draft.ts";
import { Invariant } from "../kernel/error.ts";
import { hasRule } from "../kernel/protocol.ts";
import { type BatchRef, type CallRef, type SignalOf, type State, callRef, effectBatch } from "../kernel/vocabulary.ts";

export interface BatchParent {
  readonly call: CallRef;
  readonly effect: string;
}

export interface BatchRow {
  readonly ref: BatchRef;
  readonly request: string;
  readonly born: number;
  readonly parent?: BatchParent;
  /** The step of a flow that waits for it. */
  readonly step?: string;
  /** A turn waits for it: these are the calls of an answer. */
  readonly turn?: true;
  readonly calls: readonly CallRef[];
  readonly phase: "preparing" | "running" | "cancelling" | "ended";
  /** How many calls are through their preparation: the next one is at this index. */
  readonly prepared: number;
  /** Calls that are ready, in their order, and how far into them launches have come. */
  readonly parallel: readonly CallRef[];
  readonly serial: readonly CallRef[];
  readonly launchedParallel: number;
  readonly launchedSerial: number;
  /** Launched calls that hold a slot: they neither settled nor are parked. */
  readonly occupied: number;
  readonly unfinished: number;
  /** Occurrences that its calls triggered, in the order of the answers. */
  readonly triggers: readonly Json[];
}

export const batchAt = (draft: Draft, ref: BatchRef): BatchRow => {
  const row = draft.batch(ref);
  if (row === undefined) throw new Invariant(`no batch ${ref}`);
  return row;
};

/** How many more parallel calls may start now. Once serial ones run, a latecomer waits for its turn among them. */
export const parallelSlots = ({ launchedSerial, occupied }: BatchRow, concurrency: number | null): number => {
  if (launchedSerial > 0 && occupied > 0) return 0;
  return concurrency === null ? Infinity : Math.max(0, concurrency - occupied);
};

/** Returns whether there is a call to launch and a slot for it. */
export const mayLaunch = (row: BatchRow, concurrency: number | null): boolean => {
  if (row.phase !== "running") return false;
  if (row.launchedParallel < row.parallel.length) return parallelSlots(row, concurrency) > 0;
  return row.launchedSerial < row.serial.length && row.occupied === 0;
};

/**
 * Calls of a batch that one step prepares or launches: a request of thousands leaves other scopes their turns. Between
 * two steps that do so there is a pause, in which a driver starts about as many bodies.
 */
const atOnce = { calls: 512, pauseMs: 5 };

/** Returns how many calls of a batch this step may prepare, or launch. */
export const shareOf = (draft: Draft): number =>
  hasRule(draft.scope.protocol, "large_batches") ? atOnce.calls : Infinity;

/** Leaves the rest of a batch, from this call on, to the next step. */
export const goOnLater = (draft: Draft, row: CallRow): void => {
  if (row.phase === "requested" || row.phase === "ready")
    putCall(draft, { ...row, due: deadlineIn(draft, atOnce.pauseMs) }, row);
};

/** Returns the call that is to be prepared next, or launched. */
export const nextOf = (batch: BatchRow): CallRef | undefined => {
  if (batch.phase === "preparing") return batch.calls[batch.prepared];
  return batch.parallel[batch.launchedParallel] ?? batch.serial[batch.launchedSerial];
};

/** Returns whether a batch goes on from its next call when the deadline of that has passed. */
const goesOnLater = (draft: Draft, batch: BatchRow): boolean => {
  const next = draft.call(nextOf(batch) ?? "");
  return next?.phase === "ready" && next.due !== undefined;
};

/** Returns whether a call is at work, or will be without a further word from anybody. */
const isBusy = (row: CallRow | undefined): boolean => {
  switch (row?.phase) {
    case "running":
    case "preparing":
    case "finishing":
      return true;
    case "resuming":
    case "no_tool":
      return row.due === undefined;
    case "requested":
    case "ready":
      return row.due !== undefined;
    case "awaiting_approval":
      return row.approval.edited !== undefined;
    default:
      return false;
  }
};

/** Returns whether nothing happens in a batch by itself. One that has ended is about to have its replies. */
export const isQuietBatch = ({ batches, calls }: Pick<State, "batches" | "calls">, ref: BatchRef): boolean => {
  const batch = batches.at(ref);
  return batch?.phase !== "ended" && batch?.calls.some((call) => isBusy(calls.at(call))) === false;
};

// Batches inside bodies inside batches.

/** The batches that a call's body has open. */
export const batchesOfCall = (draft: Draft, call: CallRef): readonly BatchRef[] => {
  const row = draft.call(call);
  const open = row === undefined ? [] : (bodyOf(row)?.open ?? []);
  return open.filter(({ kind }) => kind === "batch").map(({ key }) => effectBatch(call, key));
};

/** These batches and all below them, from the top. */
export const withNested = (draft: Draft, batches: readonly BatchRef[]): readonly BatchRef[] => {
  const all: BatchRef[] = [...batches];
  for (let i = 0; i < all.length; i++) {
    const calls = draft.batch(all[i] as BatchRef)?.calls ?? [];
    for (const call of calls) all.push(...batchesOfCall(draft, call));
  }
  return all;
};

/** A batch may have been dropped by this event, with the body that made it. */
export const inLiveBatch =
  <S extends { readonly batch: BatchRef }>(on: (draft: Draft, signal: S) => void) =>
  (draft: Draft, signal: S): void => {
    if (draft.batch(signal.batch) !== undefined) on(draft, signal);
  };

// Batches prepare, launch and end. They count; the calls do their own work.

export const onBatchCreate = (
  draft: Draft,
  { ref, request, prefix, parent, step, turn, calls }: SignalOf<"batch.create">,
): void => {
  draft.putBatch({
    ref,
    request,
    born: draft.seq,
    ...(parent === undefined ? {} : { parent }),
    ...(step === undefined ? {} : { step }),
    ...(turn === undefined ? {} : { turn }),
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

/** Asks for the launches that a batch has room for. */
const launchNext = (draft: Draft, row: BatchRow): void => {
  if (mayLaunch(row, draft.options.concurrency) && !goesOnLater(draft, row)) draft.raiseLaunch(row.ref);
};

/** Writes the row, and launches what it allows. */
const advance = (draft: Draft, row: BatchRow): void => {
  const isOver = close(draft, row);
  if (!isOver) launchNext(draft, row);
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
    launchNext(draft, row);
  }
};

export const onBatchTriggered = (draft: Draft, { batch, occurrence }: SignalOf<"batch.triggered">): void => {
  const row = batchAt(draft, batch);
  draft.putBatch({ ...row, triggers: [...row.triggers, occurrence] });
};

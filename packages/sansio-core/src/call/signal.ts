/** Handlers of the signals that calls hear. */
import { type CallRef, type SignalOf, isExecutor } from "../kernel/vocabulary.ts";
import { absentAtLaunch, awaitsTool } from "./recovery/absent-tool.ts";
import { batchAt, goOnLater, parallelSlots, shareOf } from "./batch.ts";
import type { Draft } from "../kernel/draft.ts";
import { cancel, drop } from "./stop.ts";
import { outputOfPending } from "./deadlines.ts";
import { endWith, internal, outputHere, project } from "./finish.ts";
import { launch } from "./launch.ts";
import type { CallIn, CallRow } from "./model.ts";
import { type Change, byBirth, known, leaveOwn, move, place } from "./row.ts";
import { askForProvider, unpark } from "./approval.ts";
import { begin } from "./prepare.ts";
import { lose } from "./recovery/owner-lost.ts";

/** A call and its batch hold one text of its reference: texts that are one and the same compare at once. */
export const onCallsCreate = (draft: Draft, { batch, request, prefix, calls }: SignalOf<"calls.create">): void => {
  const { calls: refs } = batchAt(draft, batch);
  const rows = calls.map(({ id, tool, by_id = false, args, replay, prepared, refused, asks }, index): CallRow => {
    const name = prefix + id;
    const identity = { ref: refs[index] as CallRef, request, name, id, batch, index, born: draft.seq };
    const call = replay === undefined ? identity : { ...identity, replay };
    const row = { call, tool, args, observed: false, phase: "requested", byId: by_id } as const;
    if (prepared === undefined && refused === undefined && asks === undefined) return row;
    const more = {
      ...(prepared === undefined ? {} : { prepared }),
      ...(refused === undefined ? {} : { refused }),
      ...(asks === undefined ? {} : { asks }),
    };
    return { ...row, ...more };
  });
  draft.putNewCalls(rows);
};

/** Adds up what many calls of a batch did, so that the batch is told once. */
const addUp = (sum: Change, change: Change): Change => ({
  occupied: sum.occupied + change.occupied,
  completed: sum.completed + change.completed,
});

const nothing: Change = { occupied: 0, completed: 0 };

/** Begins a call, or asks a person about one that a model's provider makes. */
const made = (draft: Draft, row: CallIn<"requested">): CallRow =>
  row.asks === undefined ? begin(draft, row) : askForProvider(draft, row, row.asks);

export const onCallsPrepare = (draft: Draft, { batch }: SignalOf<"calls.prepare">): void => {
  const { calls, prepared } = batchAt(draft, batch);
  const share = shareOf(draft);
  let sum = nothing;
  let count = 0;
  for (let i = prepared; i < calls.length; i++) {
    const row = known(draft, calls[i] as CallRef);
    if (count >= share && row.phase === "requested") {
      goOnLater(draft, row);
      break;
    }
    const after = row.phase === "requested" ? made(draft, row) : row;
    if (after !== row) sum = addUp(sum, place(draft, row, after));
    if (after.phase === "preparing") break;
    count += 1;
  }
  draft.raise({ type: "batch.prepared", batch, count, completed: sum.completed });
};

/** Launches from a list while slots last, up to the share of a step; a call that ends at once leaves its slot to the next. */
const launchFrom = (
  draft: Draft,
  calls: readonly CallRef[],
  from: number,
  slots: number,
): Change & { readonly count: number } => {
  const share = shareOf(draft);
  let sum = nothing;
  let count = 0;
  for (; from + count < calls.length && sum.occupied < slots; count++) {
    const row = known(draft, calls[from + count] as CallRef);
    if (count >= share && row.phase === "ready") {
      goOnLater(draft, row);
      break;
    }
    if (row.phase === "ready")
      sum = addUp(sum, place(draft, row, awaitsTool(draft, row) ? absentAtLaunch(draft, row) : launch(draft, row)));
  }
  return { ...sum, count };
};

export const onCallsLaunch = (draft: Draft, { batch }: SignalOf<"calls.launch">): void => {
  const row = batchAt(draft, batch);
  const slots = parallelSlots(row, draft.options.concurrency);
  const parallel = launchFrom(draft, row.parallel, row.launchedParallel, slots);
  const isParallelOver = row.launchedParallel + parallel.count === row.parallel.length;
  const isFree = isParallelOver && row.occupied + parallel.occupied === 0;
  const serial = isFree ? launchFrom(draft, row.serial, row.launchedSerial, 1) : { ...nothing, count: 0 };
  draft.raise({
    type: "batch.counted",
    batch,
    parallel: parallel.count,
    serial: serial.count,
    ...addUp(parallel, serial),
  });
};

/** The live calls in one phase, oldest first. */
const inOrder = <P extends CallRow["phase"]>(draft: Draft, phase: P): readonly CallIn<P>[] =>
  draft
    .calls()
    .filter((row): row is CallIn<P> => row.phase === phase)
    .toSorted(byBirth);

/** An executor outlives the driver that it works for: only its own lease ends it. */
export const onOwnersLost = (draft: Draft, { owners, went }: SignalOf<"owners.lost">): void => {
  const isLost = (owner: string): boolean => (owners === "older" ? !isExecutor(owner) : owners.includes(owner));
  const lost = inOrder(draft, "running").filter(({ owner }) => isLost(owner));
  for (const row of lost) move(draft, row, lose(draft, row, went));
  const isOfRun =
    draft.state.background.run !== undefined &&
    lost.some(({ call }) => call.request === draft.process?.registration.id);
  if (isOfRun) draft.raise({ type: "run.lost" });
};

export const onCallsCancel = (draft: Draft, { batch, calls }: SignalOf<"calls.cancel">): void => {
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
export const onCallsDrop = (draft: Draft, { batches }: SignalOf<"calls.drop">): void => {
  for (const batch of batches) {
    for (const ref of draft.batch(batch)?.calls ?? []) {
      const row = known(draft, ref);
      drop(draft, row);
      leaveOwn(draft, row, undefined);
      draft.dropCalls([ref]);
    }
    draft.dropBatch(batch);
  }
};

const revoked = internal(
  "pending_tool_completion_failed",
  "await_event_unknown_or_revoked: await-event key is invalid or revoked",
);

export const onPendingEnd = (draft: Draft, { call, resolution, at }: SignalOf<"pending.end">): void => {
  const row = draft.call(call);
  if (row?.phase !== "pending") return; // This event has ended it already, with its batch or its body.
  const after =
    resolution === "revoked"
      ? project(draft, row, revoked, row.durationMs)
      : endWith(draft, row, {
          output: outputOfPending(row, resolution),
          durationMs: row.durationMs,
          outputAt: at === undefined ? undefined : outputHere(draft, row),
        });
  move(draft, row, after);
};

/** A sticky decision is applied to the calls of its tool that are parked now. */
export const onCallsDecide = (draft: Draft, { tool }: SignalOf<"calls.decide">): void => {
  for (const row of inOrder(draft, "awaiting_approval")) {
    if (row.manifest.id === tool && row.approval.edited === undefined) move(draft, row, unpark(draft, row));
  }
};

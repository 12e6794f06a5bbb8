/** The invariants of batches, one function each: what is broken, and in which batch. */
import type { Check } from "../concern.ts";
import { type CallPhase, type CallRow, occupies } from "./model.ts";
import type { State } from "../kernel/state.ts";
import type { BatchRow } from "./batch-model.ts";

const firstOf = (state: State, broken: (row: BatchRow) => string | undefined): string | undefined => {
  for (const row of state.batches.rows()) {
    const what = broken(row);
    if (what !== undefined) return `batch \`${row.ref}\` (${row.phase}): ${what}`;
  }
  return undefined;
};

const callsOf = (state: State, { calls }: BatchRow): readonly CallRow[] =>
  calls.flatMap((ref) => state.calls.at(ref) ?? []);

export const checkB1: Check = (state) =>
  firstOf(state, (batch) => {
    for (const [index, ref] of batch.calls.entries()) {
      const row = state.calls.at(ref);
      if (row === undefined) return `B1: its call \`${ref}\` is not live`;
      if (row.call.batch !== batch.ref || row.call.index !== index) return `B1: its call \`${ref}\` is of another`;
    }
    return undefined;
  });

export const checkB2: Check = (state) =>
  firstOf(state, (batch) => {
    const unfinished = callsOf(state, batch).filter(({ phase }) => phase !== "completed").length;
    return unfinished === batch.unfinished ? undefined : `B2: counts ${batch.unfinished} unfinished of ${unfinished}`;
  });

export const checkB3: Check = (state) =>
  firstOf(state, (batch) => {
    const occupied = callsOf(state, batch).filter(occupies).length;
    return occupied === batch.occupied ? undefined : `B3: counts ${batch.occupied} slots taken of ${occupied}`;
  });

/** Where an answer from outside wakes a call that had left its slot, it takes one whether there is one or not. */
const isWoken = (before: State, row: CallRow): boolean => {
  const phase = before.calls.at(row.call.ref)?.phase;
  return occupies(row) && (phase === "unknown" || phase === "awaiting_approval");
};

export const checkB4Change = (before: State, after: State): string | undefined => {
  const { concurrency } = after.scope.options;
  if (concurrency === null) return undefined;
  return firstOf(after, (batch) => {
    const allowed = Math.max(concurrency, before.batches.at(batch.ref)?.occupied ?? 0);
    if (batch.occupied <= allowed) return undefined;
    const woken = callsOf(after, batch).filter((row) => isWoken(before, row)).length;
    return batch.occupied <= allowed + woken ? undefined : `B4: ${batch.occupied} calls run at once of ${allowed}`;
  });
};

/** What is left of a batch that is cancelling: bodies that were told, and calls on their way out. */
const leaving: ReadonlySet<CallPhase> = new Set(["running", "resuming", "finishing", "completed"]);

export const checkB5: Check = (state) =>
  firstOf(state, (batch) => {
    if (batch.phase !== "cancelling") return undefined;
    const stray = callsOf(state, batch).find(
      (row) => !leaving.has(row.phase) || ("cancelled" in row && row.cancelled === undefined),
    );
    return stray === undefined ? undefined : `B5: its call \`${stray.call.ref}\` is ${stray.phase}`;
  });

export const checkB6: Check = (state) =>
  firstOf(state, ({ phase, prepared, calls, unfinished }) => {
    const isPrepared = phase !== "preparing" || prepared === calls.length;
    const isOver = isPrepared && unfinished === 0;
    return isOver === (phase === "ended") ? undefined : `B6: ${prepared} prepared, ${unfinished} unfinished`;
  });

export const batchChecks: readonly Check[] = [checkB1, checkB2, checkB3, checkB5, checkB6];
export const batchChangeChecks = [checkB4Change] as const;

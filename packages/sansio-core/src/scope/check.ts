/** The invariants of a scope, one function each: what is broken from one event to the next. */
import type { State } from "../kernel/state.ts";

export const checkS1Change = (before: State, after: State): string | undefined =>
  after.scope.epoch >= before.scope.epoch ? undefined : `S1: epoch ${after.scope.epoch} after ${before.scope.epoch}`;

export const checkS2Change = (before: State, after: State): string | undefined =>
  after.scope.protocol >= before.scope.protocol
    ? undefined
    : `S2: protocol ${after.scope.protocol} after ${before.scope.protocol}`;

/** While a move is under way, and for ever after it, the work stands still. */
export const checkS3Change = (before: State, after: State): string | undefined => {
  if (before.scope.status.type === "open" || after.scope.status.type === "open") return undefined;
  const isStill =
    before.calls === after.calls &&
    before.batches === after.batches &&
    before.requests === after.requests &&
    before.waits === after.waits &&
    before.outbox === after.outbox &&
    before.sticky === after.sticky &&
    before.catalog === after.catalog;
  return isStill ? undefined : `S3: something changed while the scope is ${before.scope.status.type}`;
};

export const checkS4Change = (before: State, after: State): string | undefined => {
  if (after.seq !== before.seq + 1) return `S4: sequence ${after.seq} after ${before.seq}`;
  return after.at >= before.at ? undefined : `S4: time ${after.at} after ${before.at}`;
};

export const scopeChangeChecks = [checkS1Change, checkS2Change, checkS3Change, checkS4Change] as const;

/** The bound of a step that changes the options as well: its time passes under those of before. */
export const mostOf = (
  bound: "max_runs" | "max_ended_tasks" | "max_schedules" | "max_ended_handles",
  before: State,
  after: State,
): number => Math.max(before.scope.options[bound], after.scope.options[bound]);

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
 */
import type { Json } from "@pawl/tool-value";
import type { Draft } from "../kernel/draft.ts";
import { Invariant } from "../kernel/error.ts";
import type { BatchRef, CallRef } from "../kernel/ids.ts";

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
  /** What its calls triggered, in the order of the answers. */
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

/** Whether there is a call to launch and a slot for it. */
export const mayLaunch = (row: BatchRow, concurrency: number | null): boolean => {
  if (row.phase !== "running") return false;
  if (row.launchedParallel < row.parallel.length) return parallelSlots(row, concurrency) > 0;
  return row.launchedSerial < row.serial.length && row.occupied === 0;
};

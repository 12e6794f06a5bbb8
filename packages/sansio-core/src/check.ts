/**
 * What holds of every reachable state, and of every step: all invariants of all concerns, and those of the state as a
 * whole. Tests run them after each step; `restore` runs them over what it read.
 */
import { approvalChangeChecks, approvalChecks } from "./call/approval-check.ts";
import { backgroundChangeChecks, backgroundChecks } from "./run/check.ts";
import { batchChangeChecks, batchChecks } from "./call/batch-check.ts";
import { callChangeChecks, callChecks } from "./call/check.ts";
import { bodyOf } from "./call/model.ts";
import { catalogChecks } from "./catalog/check.ts";
import { flowChangeChecks, flowChecks } from "./flow/check.ts";
import { type Due, earlierOf, isBefore } from "./kernel/deadline.ts";
import { effectChecks } from "./call/effect-check.ts";
import { handleChangeChecks, handleChecks } from "./link/handle-check.ts";
import { linkChangeChecks, linkChecks } from "./link/check.ts";
import { outboxChecks } from "./link/outbox-check.ts";
import { processChangeChecks, processStateChecks } from "./process/check.ts";
import { requestChangeChecks, requestChecks } from "./request/check.ts";
import { scheduleChangeChecks, scheduleChecks } from "./schedule/check.ts";
import { scopeChangeChecks } from "./scope/check.ts";
import { type State, duesOf, nextDeadline } from "./kernel/state.ts";
import { waitChangeChecks, waitChecks } from "./wait/check.ts";

export type Check = (state: State) => string | undefined;
export type ChangeCheck = (before: State, after: State) => string | undefined;

const shown = (due: Due | undefined): string => (due === undefined ? "none" : `${due.at}/${due.birth}/${due.key}`);

/** The next deadline is what a look at every row would find. */
export const checkNextDeadline: Check = (state) => {
  let first: Due | undefined;
  for (const due of duesOf(state.calls)) if (first === undefined || isBefore(due, first)) first = due;
  first = earlierOf(first, state.schedules.due);
  const found = shown(nextDeadline(state));
  return found === shown(first) ? undefined : `deadline: found ${found}, expected ${shown(first)}`;
};

/** Tables count what they hold, and hold each row under its own key. */
export const checkTables: Check = ({ requests, batches, calls, waits }) => {
  const sizes = [
    ["requests", requests.size, requests.rows().filter((row) => requests.at(row.request) === row).length],
    ["batches", batches.size, batches.rows().filter((row) => batches.at(row.ref) === row).length],
    ["calls", calls.size, calls.rows().filter((row) => calls.at(row.call.ref) === row).length],
    ["waits", waits.size, waits.rows().filter((row) => waits.at(row.key) === row).length],
  ] as const;
  const wrong = sizes.find(([, counted, held]) => counted !== held);
  return wrong === undefined ? undefined : `${wrong[0]}: counts ${wrong[1]}, holds ${wrong[2]}`;
};

/** No deadline, and nothing else that is counted from now on, lies beyond what a number counts exactly. */
export const checkNumbers: Check = (state) => {
  const far = duesOf(state.calls).find(({ at, birth }) => !Number.isSafeInteger(at) || !Number.isSafeInteger(birth));
  return far === undefined ? undefined : `deadline of \`${far.key}\` at ${far.at}, set by ${far.birth}`;
};

/** Rows were made, and bodies started, before now. */
export const checkPast: Check = (state) => {
  const { seq, at } = state;
  const rows = [...state.requests.rows(), ...state.batches.rows(), ...state.waits.rows(), ...state.outbox.values()];
  const unborn = rows.find(({ born }) => born > seq);
  if (unborn !== undefined) return `a row of ${unborn.born} stands in a state of ${seq}`;
  for (const row of state.calls.rows()) {
    const body = bodyOf(row);
    const early = body?.open.find((effect) => effect.seq > seq || effect.attempt > body.attempt);
    if (row.call.born > seq || early !== undefined) return `call \`${row.call.ref}\`: it is of the future`;
    if (body !== undefined && body.startedAt > at) return `call \`${row.call.ref}\`: it starts at ${body.startedAt}`;
  }
  return undefined;
};

export const checks: readonly Check[] = [
  ...catalogChecks,
  ...requestChecks,
  ...batchChecks,
  ...callChecks,
  ...approvalChecks,
  ...effectChecks,
  ...waitChecks,
  ...outboxChecks,
  ...linkChecks,
  ...handleChecks,
  ...processStateChecks,
  ...flowChecks,
  ...backgroundChecks,
  ...scheduleChecks,
  checkTables,
  checkNextDeadline,
  checkNumbers,
  checkPast,
];

/** What is looked at of a step, by the part of the state that it is about; of a part that stays the same nothing. */
const changes: readonly (readonly [part: keyof State, checks: readonly ChangeCheck[]])[] = [
  ["requests", requestChangeChecks],
  ["batches", batchChangeChecks],
  ["calls", [...callChangeChecks, ...approvalChangeChecks]],
  ["waits", waitChangeChecks],
  ["links", linkChangeChecks],
  ["handles", handleChangeChecks],
  ["deletion", handleChangeChecks],
  ["process", processChangeChecks],
  ["flows", flowChangeChecks],
  ["background", backgroundChangeChecks],
  ["schedules", scheduleChangeChecks],
];

export const changeChecks: readonly ChangeCheck[] = [
  ...new Set([...scopeChangeChecks, ...changes.flatMap(([, ofPart]) => ofPart)]),
];

/** What is wrong with a state, if anything is. */
export const checkAll: Check = (state) => {
  for (const check of checks) {
    const broken = check(state);
    if (broken !== undefined) return broken;
  }
  return undefined;
};

/** What is wrong with a step from one state to the next, if anything is. */
export const checkChange: ChangeCheck = (before, after) => {
  for (const check of scopeChangeChecks) {
    const broken = check(before, after);
    if (broken !== undefined) return broken;
  }
  for (const [part, ofPart] of changes) {
    if (before[part] === after[part]) continue;
    for (const check of ofPart) {
      const broken = check(before, after);
      if (broken !== undefined) return broken;
    }
  }
  return undefined;
};

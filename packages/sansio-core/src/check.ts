/**
 * The invariants of a state: those of all concerns, and those of the state as a whole. Tests check them after each step; `restore`
 * checks them before it believes a snapshot.
 */
import { duesOf } from "./call/deadlines.ts";
import { bodyOf } from "./call/row.ts";
import type { Check } from "./concern.ts";
import { concerns } from "./concerns.ts";
import { type Due, earlierOf } from "./kernel/deadline.ts";
import { dueOfTurn } from "./turn/conversation.ts";
import type { State } from "./kernel/vocabulary.ts";
import { nextDeadline, outstanding } from "./machine.ts";

export type { Check };

const shown = (due: Due | undefined): string => (due === undefined ? "none" : `${due.at}/${due.birth}/${due.key}`);

/** The next deadline is what a look at every row would find. */
export const checkNextDeadline: Check = (state) => {
  let first: Due | undefined;
  for (const due of duesOf(state.calls)) first = earlierOf(first, due);
  first = earlierOf(first, state.schedules.due);
  first = earlierOf(first, dueOfTurn(state));
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

/** Lists the invariants of a state. */
export const checks: readonly Check[] = [
  ...concerns.flatMap((concern) => concern.checks),
  checkTables,
  checkNextDeadline,
  checkNumbers,
  checkPast,
];

/** Returns what is wrong with a state, if anything is. */
export const checkAll = (state: State): string | undefined => {
  const issued = outstanding(state);
  for (const check of checks) {
    const broken = check(state, issued);
    if (broken !== undefined) return broken;
  }
  return undefined;
};

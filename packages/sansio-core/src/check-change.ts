/**
 * The invariants of a step from one state to the next. Tests alone check them. So they are listed here, and not in the records of
 * their concerns: a page would load 2 KB that it never runs.
 */
import { approvalChangeChecks, batchChangeChecks, callChangeChecks } from "./call/check.ts";
import { effectChangeChecks } from "./call/effect/check.ts";
import { checkG4Change } from "./call/effect/stream.ts";
import { flowChangeChecks } from "./flow/check.ts";
import { handleChangeChecks, linkChangeChecks } from "./link/check.ts";
import { processChangeChecks } from "./process/check.ts";
import { requestChangeChecks } from "./request/concern.ts";
import { backgroundChangeChecks } from "./run/concern.ts";
import { scheduleChangeChecks } from "./schedule/concern.ts";
import { scopeChangeChecks } from "./scope/concern.ts";
import { turnChangeChecks } from "./turn/check.ts";
import { waitChangeChecks } from "./wait/check.ts";
import type { ChangeCheck } from "./concern.ts";
import type { State } from "./kernel/vocabulary.ts";

export type { ChangeCheck };

/** By the part of the state that they are about: where that stays the same, nothing is checked. */
const changesOf: { readonly [Part in keyof State]?: readonly ChangeCheck[] } = {
  seq: scopeChangeChecks,
  requests: requestChangeChecks,
  links: linkChangeChecks,
  handles: handleChangeChecks,
  deletion: handleChangeChecks,
  batches: batchChangeChecks,
  calls: [...callChangeChecks, ...approvalChangeChecks, ...effectChangeChecks, checkG4Change],
  waits: waitChangeChecks,
  process: processChangeChecks,
  flows: flowChangeChecks,
  background: backgroundChangeChecks,
  schedules: scheduleChangeChecks,
  conversation: turnChangeChecks,
};
const changes = Object.entries(changesOf) as readonly (readonly [part: keyof State, checks: readonly ChangeCheck[]])[];

/** Lists the invariants of a step from one state to the next. */
export const changeChecks: readonly ChangeCheck[] = [...new Set(changes.flatMap(([, ofPart]) => ofPart))];

/** Returns what is wrong with a step from one state to the next, if anything is. */
export const checkChange: ChangeCheck = (before, after) => {
  for (const [part, ofPart] of changes) {
    if (before[part] === after[part]) continue;
    for (const check of ofPart) {
      const broken = check(before, after);
      if (broken !== undefined) return broken;
    }
  }
  return undefined;
};

/**
 * Conformance checks for journals, for any test runner. A store that passes them can carry scopes: in memory, on
 * SQLite, in IndexedDB, or anywhere else.
 */
import { appendChecks } from "./journal/append-check.ts";
import { failureChecks } from "./journal/failure-check.ts";
import { leaseChecks } from "./journal/lease-check.ts";
import { mailChecks } from "./journal/message-check.ts";
import { retentionChecks } from "./journal/retention-check.ts";
import type { JournalCheck } from "./journal/rig.ts";

export type { JournalCheck, JournalRig } from "./journal/rig.ts";

/** Lists the checks that every journal has to pass. */
export const journalChecks: readonly JournalCheck[] = [
  ...appendChecks,
  ...leaseChecks,
  ...mailChecks,
  ...retentionChecks,
  ...failureChecks,
];

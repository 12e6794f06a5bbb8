/** Options that no tab of a browser is told: pages need not load what looks at them. */
import { shownOf } from "./error.ts";
import { admitNumbers, refusedOption, wrongNumber } from "./number-option.ts";
import type { RuntimeOptions } from "./runtime-options.ts";

const admitPositive = (name: string, found: unknown): void => {
  if (!(typeof found === "number" && found > 0)) throw wrongNumber(name, found, "above");
};

/** A store adds it to its clock, and keeps the sum: leases longer than a century are none. */
const mostLeaseMs = 100 * 365 * 24 * 60 * 60 * 1000;

const admitLease = (found: unknown): void => {
  admitPositive("lease.ttlMs", found);
  if (!Number.isInteger(found) || (found as number) > mostLeaseMs)
    throw refusedOption(`\`lease.ttlMs\`: expected a whole number up to ${mostLeaseMs}, found ${shownOf(found)}`);
};

export const admitSeldomOptions = (options: Partial<RuntimeOptions>): void => {
  const { pollMs, executorLeaseMs, snapshotAfter, bounds, lease, sweep, retention } = options;
  admitNumbers("", { executorLeaseMs, snapshotAfter });
  admitNumbers("bounds.", bounds);
  if (pollMs !== undefined) admitPositive("pollMs", pollMs);
  if (lease !== undefined) admitLease(lease?.ttlMs);
  if (sweep !== undefined) admitPositive("sweep.everyMs", sweep?.everyMs);
  if (retention !== undefined) admitNumbers("retention.", { olderThanMs: retention?.olderThanMs ?? null });
};

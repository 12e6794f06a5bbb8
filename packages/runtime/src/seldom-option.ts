/** Options that no tab of a browser is told: pages need not load what looks at them. */
import { admitNumbers, wrongNumber } from "./number-option.ts";
import type { RuntimeOptions } from "./runtime-options.ts";

const admitPositive = (name: string, found: unknown): void => {
  if (!(typeof found === "number" && found > 0)) throw wrongNumber(name, found, "above");
};

export const admitSeldomOptions = (options: Partial<RuntimeOptions>): void => {
  const { pollMs, executorLeaseMs, snapshotAfter, bounds, lease, sweep, retention } = options;
  admitNumbers("", { executorLeaseMs, snapshotAfter });
  admitNumbers("bounds.", bounds);
  if (pollMs !== undefined) admitPositive("pollMs", pollMs);
  if (lease !== undefined) admitPositive("lease.ttlMs", lease?.ttlMs);
  if (sweep !== undefined) admitPositive("sweep.everyMs", sweep?.everyMs);
  if (retention !== undefined) admitNumbers("retention.", { olderThanMs: retention?.olderThanMs ?? null });
};

/**
 * Checks the input of programs: options, field names, ids. Options of the core are recorded in the log of every scope. An option
 * that could not be read back would keep the scope closed for ever, so all are checked before the runtime starts.
 */
import * as E from "fp-ts/lib/Either.js";
import { Refused, refusedOption, shownOf, wrongNumber } from "../error.ts";
import { Options, defaultOptions, invalidOption } from "@pawl/sansio-core";
import { describe, read } from "@pawl/tool-value";
import type { RuntimeOptions } from "../runtime-options.ts";

/** Checks the options that are given. */
const admitNumbers = (at: string, of: object = {}): void => {
  for (const [name, found] of Object.entries(of))
    if (found !== undefined && !(typeof found === "number" && found >= 0)) throw wrongNumber(at + name, found);
};

const admitPositive = (name: string, found: unknown): void => {
  if (!(typeof found === "number" && found > 0)) throw wrongNumber(name, found, "above");
};

/** A century. Stores add the time of a lease to their clock and keep the sum, so it must have a bound. */
const mostLeaseMs = 100 * 365 * 24 * 60 * 60 * 1000;

const admitLease = (found: unknown): void => {
  admitPositive("lease.ttlMs", found);
  if (!Number.isInteger(found) || (found as number) > mostLeaseMs)
    throw refusedOption(`\`lease.ttlMs\`: expected a whole number up to ${mostLeaseMs}, found ${shownOf(found)}`);
};

const admitUpgrade = (found: unknown = "auto"): void => {
  if (found !== "auto" && found !== "never")
    throw refusedOption(`\`upgrade\`: expected "auto" or "never", found ${shownOf(found)}`);
};

const admitCore = (options: Partial<Options>): void => {
  const known = Object.keys(defaultOptions);
  const unknownKey = Object.keys(options).find((name) => !known.includes(name));
  if (unknownKey !== undefined)
    throw refusedOption(`\`options.${unknownKey}\` is no option: expected some of ${known.join(", ")}`);
  const all = read(Options, { ...defaultOptions, ...options });
  if (E.isLeft(all)) throw refusedOption(`\`options\`: ${describe(all.left)}`);
  const invalid = invalidOption(all.right);
  if (invalid !== undefined) throw refusedOption(`\`options\`: ${invalid}`);
};

/** Returns the same options if a runtime can be made of them; else throws what is wrong with one (`invalid_option`). */
export const admittedOptions = <A extends Partial<RuntimeOptions>>(options: A): A => {
  const { pollMs, executorLeaseMs, snapshotAfter, bounds, lease, sweep, retention } = options;
  const { patience, linger, blobChars, upgrade } = options;
  admitNumbers("", { executorLeaseMs, snapshotAfter });
  admitNumbers("bounds.", bounds);
  if (pollMs !== undefined) admitPositive("pollMs", pollMs);
  if (lease !== undefined) admitLease(lease?.ttlMs);
  if (sweep !== undefined) admitPositive("sweep.everyMs", sweep?.everyMs);
  if (retention !== undefined) admitNumbers("retention.", { olderThanMs: retention?.olderThanMs ?? null });
  admitCore(options.options ?? {});
  admitNumbers("", { blobChars });
  admitNumbers("patience.", patience);
  admitNumbers("linger.", linger);
  admitUpgrade(upgrade);
  return options;
};

/** Checks the id of a session or a process. */
export const admittedId = (what: "session" | "process", id: unknown): string => {
  if (typeof id === "string" && id.trim() !== "" && id.isWellFormed()) return id;
  const found = typeof id === "string" ? JSON.stringify(id) : typeof id;
  const wanted = "a text of whole characters that is not blank";
  throw new Refused("invalid_argument", `a ${what}'s id is expected to be ${wanted}, found ${found}`);
};

/**
 * What a program says of a runtime, looked at before it is one. Options of the core go into the log of every scope: one
 * that could not be read back would keep the scope closed for ever.
 */
import { Options, defaultOptions, invalidOption } from "@pawl/sansio-core";
import { describe, read } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { Refused } from "./error.ts";
import type { RuntimeOptions } from "./runtime-options.ts";

const refused = (message: string): Refused => new Refused("invalid_option", message);

const admitCore = (options: Partial<Options>): void => {
  const known = Object.keys(defaultOptions);
  const stranger = Object.keys(options).find((name) => !known.includes(name));
  if (stranger !== undefined)
    throw refused(`\`options.${stranger}\` is no option: expected some of ${known.join(", ")}`);
  const all = read(Options, { ...defaultOptions, ...options });
  if (E.isLeft(all)) throw refused(`\`options\`: ${describe(all.left)}`);
  const invalid = invalidOption(all.right);
  if (invalid !== undefined) throw refused(`\`options\`: ${invalid}`);
};

const admitNumber = (name: string, found: unknown, isPositive: boolean): void => {
  if (found === undefined || (typeof found === "number" && (isPositive ? found > 0 : found >= 0))) return;
  throw refused(`\`${name}\`: expected a number ${isPositive ? "above" : "from"} 0, found ${String(found)}`);
};

const admitNumbers = (name: string, of: object = {}): void => {
  for (const [key, found] of Object.entries(of)) admitNumber(`${name}.${key}`, found, false);
};

/** The same options, if a runtime can be made of them; else what is wrong with one is thrown (`invalid_option`). */
export const admittedOptions = <A extends Partial<RuntimeOptions>>(options: A): A => {
  const { lease, sweep, patience, bounds, linger } = options;
  admitCore(options.options ?? {});
  for (const name of ["pollMs", "executorLeaseMs", "blobChars", "snapshotAfter"] as const)
    admitNumber(name, options[name], name === "pollMs");
  admitNumber("lease.ttlMs", lease?.ttlMs, true);
  admitNumber("sweep.everyMs", sweep?.everyMs, true);
  for (const [name, of] of Object.entries({ patience, bounds, linger })) admitNumbers(name, of);
  return options;
};

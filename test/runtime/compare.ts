/** Lets runtimes fold the same logs, and counts where one comes to something else than the first. */
import type { NamedLog } from "./log.ts";
import { scriptOf } from "./page.ts";
import type { Prefixes } from "./prefix.ts";
import type { RuntimeUnderTest } from "./runtimes.ts";

export interface Difference {
  readonly runtime: string;
  readonly log: string;
  /** The first event that it shows at, counted from 1; 0 where it is the end that differs. */
  readonly event: number;
  readonly expected: string;
  readonly found: string;
}

const endOf = ({ steps, fault }: Prefixes): string => `${steps.length} events, ${fault ?? "no fault"}`;

/** Returns the first place where two runs of a log part. */
export const differenceOf = (
  expected: Prefixes,
  found: Prefixes,
): Pick<Difference, "event" | "expected" | "found"> | undefined => {
  const at = expected.steps.findIndex((step, i) => found.steps[i] !== step);
  if (at !== -1 && at < found.steps.length)
    return { event: at + 1, expected: expected.steps[at] ?? "", found: found.steps[at] ?? "" };
  const ends = [endOf(expected), endOf(found)] as const;
  return ends[0] === ends[1] ? undefined : { event: 0, expected: ends[0], found: ends[1] };
};

const limitMs = 900_000;

/** Folds logs in one runtime. */
export const foldIn = async (runtime: RuntimeUnderTest, logs: readonly NamedLog[]): Promise<readonly Prefixes[]> => {
  const code = await scriptOf("test/runtime/prefix.ts");
  const job = { code, call: "allPrefixesOf", argument: logs.map(({ text }) => text) };
  return (await runtime.run(job, AbortSignal.timeout(limitMs))) as readonly Prefixes[];
};

/** Compares what a runtime came to with what the first one did, log by log. */
export const differences = (
  runtime: string,
  logs: readonly NamedLog[],
  expected: readonly Prefixes[],
  found: readonly Prefixes[],
): readonly Difference[] =>
  logs.flatMap(({ name }, i) => {
    const nothing = { steps: [], fault: "the log was not folded" };
    const difference = differenceOf(expected[i] ?? nothing, found[i] ?? nothing);
    return difference === undefined ? [] : [{ runtime, log: name, ...difference }];
  });

/** Runs many seeds and describes the result. */
import { EventCodec } from "@pawl/sansio-core";
import { stringifyRecord } from "@pawl/tool-value";
import { Coverage, type Covered, coreSimCoverage } from "./coverage.ts";
import { type SmallCoreSim, minimiseCoreSim } from "./minimise.ts";
import { type CoreSimOptions, runCoreSim } from "./simulator.ts";

export interface CoreSimReport {
  readonly seeds: number;
  readonly events: number;
  readonly fewest: number;
  readonly crashes: number;
  readonly coverage: Coverage;
  readonly failure: SmallCoreSim | undefined;
}

export interface CoreSimsOptions extends CoreSimOptions {
  /** The first seed. */
  readonly seed?: number;
  readonly seeds?: number;
}

/** Runs seeds in order until one fails. */
export const runCoreSims = ({ seed: first = 1, seeds = 1, ...options }: CoreSimsOptions = {}): CoreSimReport => {
  const coverage = new Coverage();
  const counted = { seeds: 0, events: 0, fewest: Infinity, crashes: 0 };
  for (let seed = first; seed < first + seeds; seed++) {
    const run = runCoreSim(seed, options);
    counted.seeds += 1;
    counted.events += run.events;
    counted.crashes += run.crashes;
    coverage.add(run.coverage);
    const { violation } = run;
    if (violation !== undefined)
      return { ...counted, coverage, failure: minimiseCoreSim({ ...run, violation }, options) };
    counted.fewest = Math.min(counted.fewest, run.events);
  }
  return { ...counted, coverage, failure: undefined };
};

const percent = ({ met, all }: Covered): string => `${((met * 100) / all).toFixed(1)} %`;
const covered = (what: string, found: Covered): string => {
  const missed = found.missed.length === 0 ? "" : `; not met: ${found.missed.join(", ")}`;
  return `${what}: ${found.met} of ${found.all}, ${percent(found)}${missed}`;
};

const again = ({ seed, options: { events, without = [], protocol } }: SmallCoreSim): string =>
  [
    `pnpm core-sim --seed ${seed}`,
    ...(events === undefined ? [] : [`--events ${events}`]),
    ...(without.length === 0 ? [] : [`--without "${without.join(",")}"`]),
    ...(protocol === undefined ? [] : [`--protocol ${protocol}`]),
  ].join(" ");

const describeFailure = (failure: SmallCoreSim): readonly string[] => [
  `seed ${failure.seed} fails: ${failure.violation.harm}: ${failure.violation.message}`,
  `again: ${again(failure)}`,
  `the log of ${failure.scope}, shrunk:`,
  ...failure.log.map(({ seq, at, event }) => `${seq} ${at} ${stringifyRecord(EventCodec.encode(event))}`),
];

/** Puts the report of the core simulation into words. */
export const describeCoreSims = ({ seeds, events, fewest, crashes, coverage, failure }: CoreSimReport): string => {
  const found = coreSimCoverage(coverage);
  const leftOut = [...found.leftOut].map(([name, why]) => `left out: ${name}: ${why}`);
  const faults = [...coverage.faults].toSorted().map(([fault, times]) => `${fault} ${times}`);
  return [
    `${seeds} seeds, ${events} events (${fewest} in the shortest), ${crashes} crashes`,
    `faults: ${faults.join(", ")}`,
    covered("event types", found.events),
    covered("rejections", found.rejections),
    covered("commands", found.commands),
    ...leftOut,
    ...(failure === undefined ? ["nothing is wrong"] : describeFailure(failure)),
  ].join("\n");
};

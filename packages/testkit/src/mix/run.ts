/** The standard mix over many seeds, and what came of it in words. */
import { EventCodec } from "@pawl/sansio-core";
import { stringifyRecord } from "@pawl/tool-value";
import { Coverage, type Covered } from "./coverage.ts";
import { type SmallMix, minimiseMix } from "./minimise.ts";
import { type MixOptions, runMix } from "./mix.ts";
import { mixCoverage } from "./wanted.ts";

export interface MixReport {
  readonly seeds: number;
  readonly events: number;
  readonly fewest: number;
  readonly crashes: number;
  readonly coverage: Coverage;
  readonly failure: SmallMix | undefined;
}

export interface MixesOptions extends MixOptions {
  /** The first seed. */
  readonly seed?: number;
  readonly seeds?: number;
}

/** Runs one seed after the other, until one fails. */
export const runMixes = ({ seed: first = 1, seeds = 1, ...options }: MixesOptions = {}): MixReport => {
  const coverage = new Coverage();
  const counted = { seeds: 0, events: 0, fewest: Infinity, crashes: 0 };
  for (let seed = first; seed < first + seeds; seed++) {
    const run = runMix(seed, options);
    counted.seeds += 1;
    counted.events += run.events;
    counted.crashes += run.crashes;
    coverage.add(run.coverage);
    const { violation } = run;
    if (violation !== undefined) return { ...counted, coverage, failure: minimiseMix({ ...run, violation }, options) };
    counted.fewest = Math.min(counted.fewest, run.events);
  }
  return { ...counted, coverage, failure: undefined };
};

const percent = ({ met, all }: Covered): string => `${((met * 100) / all).toFixed(1)} %`;
const covered = (what: string, found: Covered): string => {
  const missed = found.missed.length === 0 ? "" : `; not met: ${found.missed.join(", ")}`;
  return `${what}: ${found.met} of ${found.all}, ${percent(found)}${missed}`;
};

const again = ({ seed, options: { events, without = [] } }: SmallMix): string =>
  [
    `pnpm mix --seed ${seed}`,
    ...(events === undefined ? [] : [`--events ${events}`]),
    ...(without.length === 0 ? [] : [`--without "${without.join(",")}"`]),
  ].join(" ");

const describeFailure = (failure: SmallMix): readonly string[] => [
  `seed ${failure.seed} fails: ${failure.violation.harm}: ${failure.violation.message}`,
  `again: ${again(failure)}`,
  `the log of ${failure.scope}, as small as it was made:`,
  ...failure.log.map(({ seq, at, event }) => `${seq} ${at} ${stringifyRecord(EventCodec.encode(event))}`),
];

export const describeMixes = ({ seeds, events, fewest, crashes, coverage, failure }: MixReport): string => {
  const found = mixCoverage(coverage);
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

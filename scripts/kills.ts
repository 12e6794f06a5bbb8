/**
 * `pnpm kills [N] [--seed S] [--runs]`: kills hosts N times with SIGKILL while agents work with them or, with `--runs`,
 * while their background runs and schedules do. A seed repeats the choices.
 */
import { parseArgs } from "node:util";
import { runKills as runsKilled } from "../packages/driver-node/test/background/run.ts";
import { runKills } from "../packages/driver-node/test/kill/run.ts";

interface Report {
  readonly kills: number;
  readonly what: string;
  readonly at: readonly (readonly [place: string, times: number])[];
  readonly wrong: readonly string[];
  readonly folder: string;
}

const perRun = 200;

const ofAgents = async (kills: number, seed: number): Promise<Report> => {
  const { sessions, events, steps, at, ...report } = await runKills({ kills, seed });
  return { ...report, what: `${sessions} sessions, ${steps} steps, ${events} events`, at: Object.entries(at) };
};

const ofRuns = async (seed: number): Promise<Report> => {
  const { runs, at, ...report } = await runsKilled(seed);
  return { ...report, what: `${runs} background runs`, at: [...at] };
};

const { positionals, values } = parseArgs({
  options: { seed: { type: "string" }, runs: { type: "boolean", default: false } },
  allowPositionals: true,
});
const total = Number(positionals[0] ?? 2000);

let seed = Number(values.seed ?? Date.now() % 1_000_000);
for (let killed = 0; killed < total; seed++) {
  const begun = performance.now();
  const report = await (values.runs ? ofRuns(seed) : ofAgents(Math.min(perRun, total - killed), seed));
  const { kills, what, at, wrong, folder } = report;
  killed += kills;
  const seconds = ((performance.now() - begun) / 1000).toFixed(1);
  console.log(`seed ${seed}: ${kills} kills, ${what} in ${seconds} s`);
  console.log(`  ${at.map(([place, times]) => `${place} ${times}`).join(", ")}`);
  for (const one of wrong) console.log(`  WRONG ${one}`);
  if (wrong.length > 0) console.log(`  the journal and the record of outside effects are in ${folder}`);
  if (wrong.length > 0) process.exitCode = 1;
}

/**
 * `pnpm core-sim [SEEDS] [--seed N] [--events N] [--without FAULT,…] [--protocol N] [--jobs N]`: runs the core simulation.
 * Scopes are of a random protocol, and upgraded before any event, unless one is named. A seed repeats a run.
 */
import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { type CoreSimFault, describeCoreSims, coreSimCoverage, coreSimFaults } from "@pawl/testkit/core-sim";
import { runJobs } from "../packages/testkit/test/core-sim/jobs.ts";

const { positionals, values } = parseArgs({
  options: {
    seed: { type: "string" },
    events: { type: "string" },
    without: { type: "string", default: "" },
    jobs: { type: "string" },
    protocol: { type: "string" },
  },
  allowPositionals: true,
});

const wholeNumber = (name: string, text: string): number => {
  const number = Number(text);
  if (Number.isSafeInteger(number) && number > 0) return number;
  console.error(`${name}: expected a whole number above 0, found \`${text}\``);
  process.exit(2);
};
const isFault = (name: string): name is CoreSimFault => coreSimFaults.some((fault) => fault === name);
const named = values.without.split(",").filter((name) => name !== "");
const unknown = named.find((name) => !isFault(name));
if (unknown !== undefined) {
  console.error(`--without: expected some of ${coreSimFaults.join(", ")}, found \`${unknown}\``);
  process.exit(2);
}

/** Seeds between two lines of progress. */
const seedsBetweenLines = 10_000;

const { seed } = values;
const seeds = wholeNumber("SEEDS", positionals[0] ?? (seed === undefined ? "10000" : "1"));
const start = process.cpuUsage();
let told = 0;
const report = await runJobs({
  jobs: values.jobs === undefined ? availableParallelism() : wholeNumber("--jobs", values.jobs),
  progress: ({ seeds: done, events }) => {
    if (done - told < seedsBetweenLines) return;
    told = done;
    console.log(`${new Date().toISOString()} ${done} of ${seeds} seeds, ${events} events`);
  },
  seeds,
  seed: seed === undefined ? 1 : wholeNumber("--seed", seed),
  without: named.filter(isFault),
  ...(values.protocol === undefined ? {} : { protocol: wholeNumber("--protocol", values.protocol) }),
  ...(values.events === undefined ? {} : { events: wholeNumber("--events", values.events) }),
});
const { user, system } = process.cpuUsage(start);
console.log(describeCoreSims(report));
console.log(
  `${((user + system) / 1e6).toFixed(1)} s of CPU, ${((user + system) / report.events).toFixed(1)} us an event`,
);

const { events, rejections } = coreSimCoverage(report.coverage);
const isThin = [events, rejections].some(({ met, all }) => met / all < 0.95) && seeds >= 300;
if (isThin) console.log("events or rejections are covered below 95 %");
process.exitCode = report.failure !== undefined || isThin ? 1 : 0;

/** `pnpm soak [--minutes N] [--seed S] [--json FILE]`: runs two hosts on one file and kills one of them every 30 s. */
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { soak } from "../test/soak/run.ts";
import { type Verdict, verdictsOf } from "../test/soak/verdict.ts";

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "5" },
    seed: { type: "string", default: `${Date.now() % 1_000_000}` },
    json: { type: "string" },
  },
});
const seconds = Number(values.minutes) * 60;
const seed = Number(values.seed);
if (!(seconds > 0)) throw new Error(`--minutes: expected a number above 0, found ${values.minutes}`);
if (!Number.isSafeInteger(seed)) throw new Error(`--seed: expected an integer, found ${values.seed}`);

const mib = (bytes: number): string => `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
const inWords = ({ now, rise, most }: Verdict): string =>
  `${mib(now)}; over the second half ${mib(rise)} more, at most ${mib(most)}`;

const report = await soak({ seconds, killEverySeconds: 30, seed, customers: 4 });
if (values.json !== undefined) writeFileSync(values.json, JSON.stringify(report));
const verdicts = verdictsOf(report);
const wrong = [...report.wrong, ...verdicts.filter(({ rise, most }) => rise > most).map(({ what }) => `${what} grows`)];

const { kills, sessions, scopes, turns, events, steps } = report;
const rows = {
  seed,
  seconds: Math.round(report.seconds),
  kills,
  sessions,
  scopes,
  turns,
  events,
  steps,
  ...Object.fromEntries(verdicts.map((verdict) => [verdict.what, inWords(verdict)])),
};
for (const [name, value] of Object.entries(rows)) console.log(`${name.padEnd(10)}${value}`);
for (const one of wrong) console.log(`WRONG ${one}`);
if (report.wrong.length > 0) console.log(`the journal and the record of outside effects are in ${report.folder}`);
process.exitCode = wrong.length > 0 ? 1 : 0;

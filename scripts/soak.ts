/** `pnpm soak [--minutes N] [--seed S]`: two hosts on one file under mixed load, one of them killed every 30 s. */
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { type SoakReport, soak } from "../test/soak/run.ts";
import { type Sample, riseOf } from "../test/soak/slope.ts";

const { values } = parseArgs({ options: { minutes: { type: "string" }, seed: { type: "string" }, json: { type: "string" } } });
const seconds = Number(values.minutes ?? 5) * 60;
const seed = Number(values.seed ?? Date.now() % 1_000_000);

const mebibyte = 1024 * 1024;
const mib = (bytes: number): string => (bytes / mebibyte).toFixed(1);
const last = (samples: readonly Sample[]): number => samples.at(-1)?.value ?? 0;

const report: SoakReport = await soak({ seconds, killEverySeconds: 30, seed, customers: 4 });
console.log(`seed ${seed}, ${report.seconds.toFixed(0)} s`);
console.table({
  kills: report.kills,
  sessions: report.sessions,
  scopes: report.scopes,
  turns: report.turns,
  events: report.events,
  steps: report.steps,
  "heap, MiB": mib(last(report.heap)),
  "heap rises over the second half, MiB": mib(riseOf(report.heap)),
  "resident, MiB": mib(last(report.resident)),
  "resident rises over the second half, MiB": mib(riseOf(report.resident)),
  "file, MiB": mib(last(report.file)),
  "file rises over the second half, MiB": mib(riseOf(report.file)),
});
for (const one of report.wrong) console.log(`WRONG ${one}`);
process.exitCode = report.wrong.length > 0 ? 1 : 0;
if (values.json !== undefined) writeFileSync(values.json, JSON.stringify(report));

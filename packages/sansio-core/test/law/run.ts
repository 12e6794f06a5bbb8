/** `node packages/sansio-core/test/law/run.ts [RUNS] [--seed N] [--only TEXT]`: tries the laws, each as often. */
import { parseArgs } from "node:util";
import { laws } from "./laws.ts";

const { positionals, values } = parseArgs({
  options: { seed: { type: "string" }, only: { type: "string" } },
  allowPositionals: true,
});
const numRuns = Number(positionals[0] ?? 10_000);
const given = values.seed === undefined ? {} : { seed: Number(values.seed) };

for (const { name, check } of laws.filter((law) => law.name.includes(values.only ?? ""))) {
  const start = performance.now();
  const { report, seed } = check({ numRuns, ...given });
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  console.log(`${report === undefined ? "holds" : "FAILS"} ${seconds.padStart(7)} s  seed ${seed}  ${name}`);
  if (report === undefined) continue;
  console.log(report);
  process.exitCode = 1;
}

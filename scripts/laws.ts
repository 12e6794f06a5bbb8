/**
 * `pnpm laws [RUNS] [--only TEXT] [--seed N]`: runs the laws of all packages, each RUNS times. A seed repeats a run.
 */
import { globSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { pathToFileURL } from "node:url";
import type { Law } from "../packages/tool-value/test/laws.ts";

const { positionals, values } = parseArgs({
  options: { seed: { type: "string" }, only: { type: "string", default: "" } },
  allowPositionals: true,
});
const numRuns = Number(positionals[0] ?? 10_000);
const given = values.seed === undefined ? {} : { seed: Number(values.seed) };

const root = resolve(import.meta.dirname, "..");
const files = globSync("packages/*/test/{laws,law/laws}.ts", { cwd: root }).toSorted();
const modules = await Promise.all(
  files.map((file) => import(pathToFileURL(resolve(root, file)).href) as Promise<{ readonly laws: readonly Law[] }>),
);

const counts = { passed: 0, failed: 0 };
const laws = modules.flatMap((module) => module.laws).filter(({ name }) => name.includes(values.only));
for (const { name, check } of laws) {
  const start = performance.now();
  const { report, seed } = check({ numRuns, ...given });
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  counts[report === undefined ? "passed" : "failed"] += 1;
  const verdict = report === undefined ? "holds " : "FAILS ";
  console.log(`${verdict} ${seconds.padStart(6)} s  seed ${`${seed}`.padEnd(11)}  ${name}`);
  if (report !== undefined) console.log(report);
}
console.log(`${counts.passed} passed, ${counts.failed} failed`);
process.exitCode = counts.failed > 0 ? 1 : 0;

/** `pnpm kills [N] [--seed S]`: kills hosts N times with SIGKILL while agents work with them; a seed repeats the choices. */
import { parseArgs } from "node:util";
import { runKills } from "../packages/driver-node/test/kill/run.ts";

const { positionals, values } = parseArgs({ options: { seed: { type: "string" } }, allowPositionals: true });
const total = Number(positionals[0] ?? 2000);
const perRun = 200;

let seed = Number(values.seed ?? Date.now() % 1_000_000);
for (let killed = 0; killed < total; seed++) {
  const kills = Math.min(perRun, total - killed);
  const begun = performance.now();
  const { sessions, events, steps, at, wrong, folder } = await runKills({ kills, seed });
  killed += kills;
  const seconds = ((performance.now() - begun) / 1000).toFixed(1);
  const points = Object.entries(at).map(([point, times]) => `${point} ${times}`);
  console.log(`seed ${seed}: ${kills} kills, ${sessions} sessions, ${steps} steps, ${events} events in ${seconds} s`);
  console.log(`  ${points.join(", ")}`);
  for (const one of wrong) console.log(`  WRONG ${one}`);
  if (wrong.length > 0) console.log(`  the journal and what was done outside are in ${folder}`);
  if (wrong.length > 0) process.exitCode = 1;
}

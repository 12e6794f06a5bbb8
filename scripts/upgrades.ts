/**
 * `pnpm upgrades [SEEDS] [--seed N]`: lets towns work under protocol 1, upgrades each at a random moment, and lets it go on to
 * its end under protocol 2 while hosts die. Nothing may be lost or doubled in the ledger outside.
 */
import { parseArgs } from "node:util";
import { upgradedLive } from "../test/upgrade/live.ts";

const { positionals, values } = parseArgs({
  options: { seed: { type: "string", default: "1" } },
  allowPositionals: true,
});
const [first, count] = [Number(values.seed), Number(positionals[0] ?? 500)];

let failed = 0;
for (let seed = first; seed < first + count; seed++) {
  const wrong = await upgradedLive(seed).catch((thrown: unknown) => [`town ${seed}: ${String(thrown)}`]);
  for (const one of wrong.slice(0, 5)) console.log(one);
  if (wrong.length > 0) failed += 1;
}
console.log(`${count} towns were upgraded in the middle: ${failed} failed`);
if (failed > 0) process.exitCode = 1;

/**
 * `pnpm cloudflare [ROUNDS]`: rounds of SIGKILL on a workerd with agents in objects: 10 if it is told nothing, of three kills each.
 * Nothing may be lost, and nothing done more often than once for each kill. Ends with the count of each.
 */
import { parseArgs } from "node:util";
import { Agents } from "../packages/driver-cloudflare/test/agents.ts";

const { positionals } = parseArgs({ allowPositionals: true });
const rounds = Number(positionals[0] ?? 10);
const kills = 3;
const names = ["ann", "ben", "cem", "dan"];

const agents = await Agents.open();
let failed = 0;
try {
  for (let round = 1; round <= rounds; round++) {
    const trips = names.map((name) => `${name}-${round}`);
    const wrong = await agents.roundOfKills(trips, kills, (kill) => 20 + ((round * 97 + kill * 211) % 700));
    for (const one of wrong) console.log(`round ${round}: ${one}`);
    if (wrong.length > 0) failed += 1;
  }
} finally {
  await agents.close();
}
console.log(`${rounds} rounds of ${kills} kills, ${names.length} agents and as many processes each: ${failed} failed`);
if (failed > 0) process.exitCode = 1;

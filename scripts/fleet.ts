/**
 * `pnpm fleet [N] [--seed S] [--crashes] [--freezes]`: kills any of three hosts on one PostgreSQL database N times with SIGKILL
 * while agents work with them. With `--crashes` the database itself is stopped without a shutdown now and then, with `--freezes` a
 * host is stopped for longer than its lease after each kill (SIGSTOP), and goes on. A seed repeats the choices.
 */
import { parseArgs } from "node:util";
import { runFleet } from "../packages/driver-node/test/kill/fleet.ts";
import { testServer } from "../packages/journal-postgres/test/server.ts";

const perRun = 50;
/** With `--crashes` the database crashes after this many kills. */
const crashEvery = 5;

const { positionals, values } = parseArgs({
  options: {
    seed: { type: "string" },
    crashes: { type: "boolean", default: false },
    freezes: { type: "boolean", default: false },
  },
  allowPositionals: true,
});
const total = Number(positionals[0] ?? 500);

const server = await testServer();
let crashes = 0;
const disturb = async (killed: number): Promise<void> => {
  if (!values.crashes || killed < crashEvery * (crashes + 1)) return;
  crashes += 1;
  await server.stop("immediate");
  await server.start();
};

let seed = Number(values.seed ?? Date.now() % 1_000_000);
let [tried, frozen, wrongs] = [0, 0, 0];
try {
  for (; tried < total; seed++) {
    crashes = 0;
    const begun = performance.now();
    const kills = Math.min(perRun, total - tried);
    const report = await runFleet({ url: server.url, seed, kills, disturb, freezes: values.freezes });
    const { sessions, steps, events, takeovers, wrong, at, folder } = report;
    tried += report.kills;
    wrongs += wrong.length;
    frozen += report.freezes;
    const seconds = ((performance.now() - begun) / 1000).toFixed(1);
    const work = `${sessions} sessions, ${steps} steps, ${events} events`;
    console.log(
      `seed ${seed}: ${report.kills} kills, ${report.freezes} freezes, ${crashes} crashes of the database, ${work}, ${takeovers} takeovers in ${seconds} s`,
    );
    console.log(
      `  ${Object.entries(at)
        .map(([place, times]) => `${place} ${times}`)
        .join(", ")}`,
    );
    for (const one of wrong) console.log(`  WRONG ${one}`);
    if (wrong.length > 0) console.log(`  the record of outside effects is in ${folder}`);
  }
} finally {
  await server.remove();
}
console.log(`${tried} kills and ${frozen} freezes tried, ${wrongs} wrong`);
if (wrongs > 0) process.exitCode = 1;

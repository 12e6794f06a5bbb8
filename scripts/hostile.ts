/**
 * `pnpm hostile [--minutes N] [--long] [--seed S] [--only NAME]`: attacks hosts in processes of their own, for five minutes
 * or, with `--long`, for an hour. A seed repeats the choices. The last lines say what was tried, and what was wrong.
 */
import { parseArgs } from "node:util";
import { type Row, runHostile } from "../test/hostile/attacks.ts";

const { values } = parseArgs({
  options: {
    minutes: { type: "string" },
    long: { type: "boolean", default: false },
    seed: { type: "string", default: `${Date.now() % 1_000_000}` },
    only: { type: "string" },
  },
});
const minutes = Number(values.minutes ?? (values.long ? 60 : 5));
const seed = Number(values.seed);
if (!(minutes >= 0)) throw new Error(`--minutes: expected a number from 0, found ${values.minutes}`);
if (!Number.isSafeInteger(seed)) throw new Error(`--seed: expected an integer, found ${values.seed}`);

const reported = new Map<string, number>();
const told = ({ attack, wrong }: Row): void => {
  for (const one of wrong.slice(reported.get(attack) ?? 0)) console.log(`WRONG ${attack}: ${one}`);
  reported.set(attack, wrong.length);
};

const begunAt = performance.now();
const rows = await runHostile({
  seed,
  ms: minutes * 60_000,
  only: (attack) => attack.includes(values.only ?? ""),
  told,
});
const wait = (ms: number): string => (ms === 0 ? "" : `${Math.round(ms)} ms`);
console.log(`seed ${seed}, ${Math.round((performance.now() - begunAt) / 1000)} s`);
console.log(
  `${"attack".padEnd(28)}${"rounds".padStart(8)}${"tried".padStart(12)}${"wrong".padStart(8)}  longest honest wait`,
);
for (const { attack, rounds, tried, wrong, longestWaitMs } of rows)
  console.log(
    `${attack.padEnd(28)}${String(rounds).padStart(8)}${String(tried).padStart(12)}${String(wrong.length).padStart(8)}  ${wait(longestWaitMs)}`,
  );
const sum = (of: (row: Row) => number): number => rows.reduce((all, row) => all + of(row), 0);
const wrong = sum((row) => row.wrong.length);
console.log(`${sum(({ tried }) => tried)} tried, ${wrong} wrong`);
process.exitCode = wrong > 0 ? 1 : 0;

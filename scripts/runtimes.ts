/**
 * `pnpm runtimes [--long] [--json]`: lets every runtime fold all golden logs, the corpus of protocol 1 and 100 logs of the
 * core simulation (1,000 with `--long`), and compares state and commands after each event with those of the first.
 */
import { parseArgs } from "node:util";
import { type Difference, differences, foldIn } from "../test/runtime/compare.ts";
import { type NamedLog, corpusLogs, goldenLogs, mixedLogs } from "../test/runtime/log.ts";
import type { Prefixes } from "../test/runtime/prefix.ts";
import { missingFor, runtimes } from "../test/runtime/runtimes.ts";

const { values } = parseArgs({ options: { long: { type: "boolean" }, json: { type: "boolean" } } });
const isStrict = (process.env["PAWL_CI"] ?? "") !== "";

/** Standard output is the answer's, where it is JSON. */
const say = (line: string): void => (values.json === true ? console.error(line) : console.log(line));

const logs: readonly NamedLog[] = [
  ...goldenLogs(),
  ...(await corpusLogs()),
  ...mixedLogs(values.long === true ? 1000 : 100),
];

const versions = new Map<string, string>();
const found: Difference[] = [];
let left = 0;
let first: readonly Prefixes[] | undefined;

for (const runtime of runtimes) {
  const missing = missingFor(runtime);
  if (missing.length > 0) {
    left += 1;
    say(`${runtime.name.padEnd(12)} left out: ${missing.map(({ name, remedy }) => `${name} is missing: ${remedy}`)}`);
    continue;
  }
  const begun = performance.now();
  const folded = await foldIn(runtime, logs);
  first ??= folded;
  const own = differences(runtime.name, logs, first, folded);
  found.push(...own);
  versions.set(runtime.name, runtime.version());
  const seconds = ((performance.now() - begun) / 1000).toFixed(1);
  say(`${runtime.name.padEnd(12)} ${runtime.version().padEnd(16)} ${own.length} differences  ${seconds.padStart(6)} s`);
}

const faults = (first ?? []).flatMap(({ fault }, i) => (fault === undefined ? [] : [`${logs[i]?.name}: ${fault}`]));
for (const fault of faults.slice(0, 10)) say(`does not replay: ${fault}`);
for (const { runtime, log, event, expected, found: other } of found.slice(0, 10))
  say(`${runtime}, ${log}, event ${event}: expected ${expected}, found ${other}`);

const prefixes = (first ?? []).reduce((sum, { steps }) => sum + steps.length, 0);
const answer = { runtimes: Object.fromEntries(versions), logs: logs.length, prefixes, differences: found.length };
if (values.json === true) console.log(JSON.stringify(answer));
else say(`${versions.size} runtimes, ${logs.length} logs, ${prefixes} prefixes: ${found.length} differences`);
if (found.length + faults.length > 0 || (isStrict && left > 0)) process.exitCode = 1;

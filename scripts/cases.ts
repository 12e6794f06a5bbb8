/**
 * `pnpm cases DIR [--print] [--protocol 2]`: runs the cases of every `*.json` in DIR, or prints what each op answers. Ops
 * that need a scope open one of protocol 1, whose words the given cases are, or of the protocol that is named.
 */
import { globSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { type Case, judge, openCasesUnder, printCase, readCases, runCase } from "@pawl/testkit";
import { collectAdapters } from "./adapters.ts";

const { positionals, values } = parseArgs({
  options: { print: { type: "boolean", default: false }, protocol: { type: "string", default: "1" } },
  allowPositionals: true,
});
const [dir] = positionals;
if (dir === undefined) {
  console.error("usage: pnpm cases DIR [--print] [--protocol <number>]");
  process.exit(2);
}

openCasesUnder(Number(values.protocol));
const folder = resolve(process.env["INIT_CWD"] ?? process.cwd(), dir);
const files = globSync("*.json", { cwd: folder }).toSorted();
if (files.length === 0) {
  console.error(`no *.json in ${folder}`);
  process.exit(2);
}

const adapters = await collectAdapters();
const counts = { passed: 0, failed: 0 };

const run = async (test: Case): Promise<void> => {
  const answer = await runCase(test, adapters);
  if (values.print) {
    console.log(printCase(test, answer));
    return;
  }
  const failure = judge(test, answer);
  counts[failure === undefined ? "passed" : "failed"] += 1;
  if (failure !== undefined) console.log(`${test.id} (${test.op}): ${failure}`);
};

for (const file of files) {
  for (const test of readCases(readFileSync(resolve(folder, file), "utf8"))) await run(test);
}
if (!values.print) console.log(`${counts.passed} passed, ${counts.failed} failed`);
process.exitCode = counts.failed > 0 ? 1 : 0;

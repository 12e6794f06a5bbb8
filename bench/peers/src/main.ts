/**
 * `pnpm bench:peers [NAME…] [--reps N] [--json FILE] [--markdown FILE] [--at FOLDER]`: installs the peers, measures
 * each in turn, in one process for each system and repetition, and prints medians. Reports peers that cannot be
 * installed or run.
 */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type Results, type Row, conditions, figures, ratios, shortfalls } from "./table.ts";
import { median } from "./workload.ts";

const here = join(import.meta.dirname, "..");
const everything = ["inserts", "groups", "pawl", "restate", "dbos", "vercel", "xstate"];
/** Time after which a repetition is given up. */
const longestMs = 15 * 60_000;

const { positionals, values } = parseArgs({
  options: {
    reps: { type: "string", default: "3" },
    json: { type: "string", default: join(here, "results.json") },
    markdown: { type: "string", default: join(here, "results.md") },
    at: { type: "string", default: join(here, "data") },
  },
  allowPositionals: true,
});
const names = positionals.length === 0 ? everything : positionals;
const unknown = names.filter((name) => !everything.includes(name));
if (unknown.length > 0) {
  console.error(`no system named ${unknown.join(", ")}; there are ${everything.join(", ")}`);
  process.exit(2);
}

/** Installs by the lockfile; packages that are cached are not fetched again. */
const install = (): void => {
  if (!existsSync(join(here, "node_modules"))) console.error("installing the peers");
  const pnpm = ["-y", "pnpm@12", "install", "--frozen-lockfile"];
  try {
    execFileSync("npx", pnpm, { cwd: here, stdio: ["ignore", process.stderr, process.stderr] });
  } catch (thrown) {
    console.error(`the peers were not installed: ${String(thrown)}`);
  }
};

const measureOnce = async (name: string): Promise<Row> => {
  const args = ["--expose-gc", "--no-warnings", join(here, "src/measure.ts"), name, values.at];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"] });
  const [said, complained]: [string[], string[]] = [[], []];
  child.stdout.setEncoding("utf8").on("data", (text: string) => said.push(text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => complained.push(text));
  const timer = setTimeout(() => child.kill("SIGTERM"), longestMs);
  const [code, signal] = (await once(child, "close")) as [number | null, string | null];
  clearTimeout(timer);
  if (signal !== null) throw new Error(`given up after ${longestMs / 60_000} minutes`);
  if (code !== 0)
    throw new Error(
      complained
        .join("")
        .trim()
        .split("\n")
        .find((line) => line.includes("Error")) ?? `exit ${code}`,
    );
  return JSON.parse(said.join("").trim().split("\n").at(-1) ?? "") as Row;
};

const numbers = ["floor", "ofFloor", "sequence", "crowd", "long", "p50", "p99", "resume", "parked"] as const;

/** Returns the median of each figure over all repetitions. */
const medianRow = (rows: readonly Row[]): Row => {
  const [first] = rows as [Row];
  const medians = numbers.flatMap((name) => {
    const found = rows.flatMap((row) => row[name] ?? []);
    return found.length === 0 ? [] : [[name, median(found)] as const];
  });
  return { ...first, ...Object.fromEntries(medians) };
};

const runs: { [name: string]: Row[] } = {};
const failures: { [name: string]: string } = {};

const resultsNow = (): Results =>
  Object.fromEntries(
    names.flatMap((name): [string, Results[string] & {}][] => {
      const rows = runs[name] ?? [];
      if (rows.length > 0) return [[name, medianRow(rows)]];
      return [[name, { failed: failures[name] ?? "not measured yet" }]];
    }),
  );

const machine = `${cpus().length} x ${cpus()[0]?.model.trim()}, Node ${process.versions.node}`;
const begun = new Date().toISOString();

/** Writes the results so far as Markdown and JSON, so that an interrupted run leaves something. */
const report = (rep: number): string => {
  const results = resultsNow();
  const short = shortfalls(results);
  const head = `${machine}, ${begun}, medians of ${rep} of ${values.reps} repetitions`;
  const missing = Object.entries(failures).map(([name, why]) => `- ${name}: ${why}`);
  const text = [
    head,
    figures(results),
    ratios(results),
    ...(missing.length === 0 ? [] : [missing.join("\n")]),
    conditions(results),
    short.length === 0 ? "pawl is as far ahead as it has to be." : `Falls short:\n\n- ${short.join("\n- ")}`,
  ].join("\n\n");
  writeFileSync(values.markdown, `${text}\n`);
  writeFileSync(values.json, `${JSON.stringify({ machine, begun, results, runs, failures, short }, undefined, 2)}\n`);
  return text;
};

let text = "";
install();
for (let rep = 1; rep <= Number(values.reps); rep++) {
  for (const name of names.filter((one) => failures[one] === undefined)) {
    console.error(`${rep}/${values.reps} ${name}`);
    try {
      const row = await measureOnce(name);
      (runs[name] ??= []).push(row);
    } catch (thrown) {
      failures[name] = `not measured: ${(thrown as Error).message}`;
    }
  }
  text = report(rep);
}
console.log(text);

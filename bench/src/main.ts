/** `pnpm bench [NAME…] [--json]`: measures the figures whose names begin so, and prints them. */
import { parseArgs } from "node:util";
import { browserFigures } from "./browser.ts";
import { coreFigures } from "./core.ts";
import { exploreFigures } from "./explore.ts";
import { type Figure, type Result, measure } from "./figure.ts";
import { hostFigures } from "./host.ts";
import { inspectorFigures } from "./inspector.ts";
import { nodeFigures } from "./node.ts";
import { postgresFigures } from "./pg.ts";
import { replayFigures } from "./replay.ts";
import { simFigures } from "./sim.ts";
import { streamFigures } from "./stream.ts";
import { toolFigures } from "./tools-run.ts";
import { valueFigures } from "./value.ts";

const figures: readonly Figure[] = [
  ...valueFigures,
  ...coreFigures,
  ...replayFigures,
  ...nodeFigures,
  ...postgresFigures,
  ...hostFigures,
  ...simFigures,
  ...streamFigures,
  ...browserFigures,
  ...inspectorFigures,
  ...exploreFigures,
  ...toolFigures,
];

const { positionals, values } = parseArgs({
  options: { json: { type: "boolean", default: false } },
  allowPositionals: true,
});
const chosen = figures.filter(({ name }) => positionals.length === 0 || positionals.some((p) => name.startsWith(p)));
if (chosen.length === 0) {
  console.error(`no figure named ${positionals.join(", ")}; there are ${figures.map(({ name }) => name).join(", ")}`);
  process.exit(2);
}

const digits = (n: number): string => `${Number(n.toPrecision(3))}`;
const widths = [14, 14, 7, 16, 8] as const;
const row = (name: string, cells: readonly string[], what: string): string =>
  [name.padEnd(22), ...cells.map((cell, i) => cell.padStart(widths[i] ?? 0)), ` ${what}`].join(" ");
const spreadOf = ([least, greatest]: Result["spread"]): string =>
  least === greatest ? "" : `${digits(least)} to ${digits(greatest)}`;

if (!values.json) console.log(row("figure", ["value", "floor", "ratio", "of its rounds", "at most"], "what"));
const results: { [name: string]: Result } = {};
for (const figure of chosen) {
  const result = await measure(figure);
  results[figure.name] = result;
  if (values.json) continue;
  const { value, floor, unit, ratio, spread, bound, holds, runs, note } = result;
  const what = note === undefined ? figure.what : `${figure.what}: ${note}`;
  const judged = runs === 1 ? what : `${what} (the best of ${runs} runs)`;
  const verdict = holds ? judged : `${judged} — DOES NOT HOLD`;
  const cells = [
    `${digits(value)} ${unit}`,
    `${digits(floor)} ${unit}`,
    digits(ratio),
    spreadOf(spread),
    digits(bound),
  ];
  console.log(row(figure.name, cells, verdict));
}
if (values.json) console.log(JSON.stringify(results));

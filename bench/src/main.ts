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
const row = (name: string, value: string, floor: string, ratio: string, bound: string, what: string): string =>
  [name.padEnd(22), value.padStart(14), floor.padStart(14), ratio.padStart(7), bound.padStart(8), ` ${what}`].join(" ");

if (!values.json) console.log(row("figure", "value", "floor", "ratio", "at most", "what"));
const results: { [name: string]: Result } = {};
for (const figure of chosen) {
  const result = await measure(figure);
  results[figure.name] = result;
  if (values.json) continue;
  const { value, floor, unit, ratio, bound, holds, runs, note } = result;
  const what = note === undefined ? figure.what : `${figure.what}: ${note}`;
  const judged = runs === 1 ? what : `${what} (the best of ${runs} runs)`;
  const verdict = holds ? judged : `${judged} — DOES NOT HOLD`;
  console.log(
    row(figure.name, `${digits(value)} ${unit}`, `${digits(floor)} ${unit}`, digits(ratio), digits(bound), verdict),
  );
}
if (values.json) console.log(JSON.stringify(results));

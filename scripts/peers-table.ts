/** `pnpm bench:table [FILE]`: writes the results of `pnpm bench:peers` into docs/performance.md, with date and machine. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Results, figures, ratios } from "../bench/peers/src/table.ts";
import { root } from "../test/project.ts";

interface Measured {
  readonly machine: string;
  readonly begun: string;
  readonly results: Results;
}

const [file = join(root, "bench/peers/results.json")] = process.argv.slice(2);
const page = join(root, "docs/performance.md");
const place = /(?<begin><!-- measured by `pnpm bench:peers` -->\n)[\s\S]*?(?<end><!-- end -->)/;

const { machine, begun, results } = JSON.parse(readFileSync(file, "utf8")) as Measured;
const versions = Object.entries(results).flatMap(([name, result]) =>
  "version" in result && result.version !== "" ? [`${name} ${result.version}: ${result.durability}`] : [],
);
const measured = [
  `${begun.slice(0, 10)}, ${machine}; medians, each system after ten seconds of the same work.`,
  figures(results),
  "How many times better pawl is than each (faster, or smaller; below 1 it is behind):",
  ratios(results),
  `What each syncs:\n\n${versions.map((version) => `- ${version}`).join("\n")}`,
];
const text = readFileSync(page, "utf8");
if (!place.test(text)) throw new Error(`docs/performance.md has no place for what was measured: ${String(place)}`);
writeFileSync(
  page,
  text.replace(place, (_, begin: string, end: string) => `${begin}\n${measured.join("\n\n")}\n\n${end}`),
);

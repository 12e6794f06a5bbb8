/** `pnpm house [FIGURE…] [--all]`: prints the figures of the house beside their bounds, and what fails them; `--all` lists it whole. */
import { parseArgs } from "node:util";
import { type Figure, figuresOfHouse } from "../test/house/figure.ts";

const { values, positionals } = parseArgs({
  options: { all: { type: "boolean", default: false } },
  allowPositionals: true,
});

const holds = ({ value, atMost = Infinity, atLeast = -Infinity }: Figure): boolean =>
  value >= atLeast && value <= atMost;
const boundOf = ({ atMost, atLeast }: Figure): string =>
  atLeast === undefined ? `${atMost}` : `${atLeast} to ${atMost}`;

const most = values.all ? Infinity : 5;
const chosen = figuresOfHouse().filter(
  ({ name }) => positionals.length === 0 || positionals.some((text) => name.includes(text)),
);
for (const figure of chosen) {
  const { name, value, found } = figure;
  console.log(
    `${name.padEnd(36)} ${`${Number(value.toFixed(2))}`.padStart(8)}  at most ${boundOf(figure)}${holds(figure) ? "" : " — DOES NOT HOLD"}`,
  );
  if (holds(figure) && !values.all) continue;
  for (const one of found.slice(0, most)) console.log(`    ${one}`);
  if (found.length > most) console.log(`    and ${found.length - most} more: --all`);
}

/**
 * `pnpm waits [calls] [keys] [readers]`: how long one client makes others wait, on a host in a process of its own. Each line is a
 * figure and its bound. What clients wait is told by the clock, and needs an idle machine; the rest is processor time.
 */
import { type Figure, waitForCalls, waitForKeys, waitForReaders } from "../test/hostile/waits.ts";

const all: { readonly [name: string]: () => Promise<readonly Figure[]> } = {
  calls: waitForCalls,
  keys: waitForKeys,
  readers: () => waitForReaders(Number(process.env["PAWL_READERS"] ?? 300), Number(process.env["PAWL_READ_MB"] ?? 30)),
};

const asked = process.argv.slice(2);
const unknown = asked.find((name) => all[name] === undefined);
if (unknown !== undefined) throw new Error(`expected ${Object.keys(all).join(", ")}, found ${unknown}`);

let isWithin = true;
for (const name of asked.length > 0 ? asked : Object.keys(all))
  for (const { name: what, found, most, unit } of (await all[name]?.()) ?? []) {
    const shown = found < 10 ? found.toFixed(1) : Math.round(found);
    console.log(`${found <= most ? "within" : "BEYOND"}  ${what} ${shown} ${unit} (at most ${most})`);
    isWithin &&= found <= most;
  }
process.exitCode = isWithin ? 0 : 1;

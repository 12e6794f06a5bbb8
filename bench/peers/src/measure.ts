/** `measure.ts NAME [FOLDER]`: measures one system in this process and prints the result in its last line. */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { System } from "./system.ts";
import { measure } from "./workload.ts";

const systems: { readonly [name: string]: (folder: string) => Promise<System> } = {
  inserts: async (folder) => (await import("./floor.ts")).inserts(folder),
  groups: async (folder) => (await import("./floor.ts")).groups(folder),
  pawl: async (folder) => (await import("./pawl.ts")).pawl(folder),
  restate: async (folder) => (await import("./restate.ts")).restate(folder),
  dbos: async (folder) => (await import("./dbos.ts")).dbos(folder),
  vercel: async (folder) => (await import("./vercel.ts")).vercel(folder),
  xstate: async (folder) => (await import("./xstate.ts")).xstate(folder),
};

const name = process.argv[2] ?? "";
const open = systems[name];
if (open === undefined) throw new Error(`no system named ${name}; there are ${Object.keys(systems).join(", ")}`);

/** The folder for data files, on the disk to be measured. */
const data = process.argv[3] ?? join(import.meta.dirname, "../data");
mkdirSync(data, { recursive: true });
const folder = mkdtempSync(join(data, `${name}-`));
try {
  const system = await open(folder);
  const measured = await measure(system, folder);
  const { version, durability } = system;
  await system.close();
  console.log(JSON.stringify({ version, durability, ...measured }));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.exit(0);

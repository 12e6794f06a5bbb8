/** A host with background runs that is killed again and again at named points; then what there is is looked at. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Random } from "../kill/random.ts";
import { checkRuns } from "./check.ts";
import { type Fate, describeFate, places } from "./fate.ts";
import type { Order } from "./process.ts";

export interface RunKills {
  readonly kills: number;
  readonly runs: number;
  /** How often a host died at each of its places. */
  readonly at: ReadonlyMap<string, number>;
  readonly wrong: readonly string[];
  readonly folder: string;
}

/** Longer than any life that goes well, on a machine that has much to do. */
const longestLifeMs = 120_000;
const compiled = join(tmpdir(), "pawl-kills-cache");

/** The signal that ended it; undefined where it came to its end. */
const lived = async (order: Order): Promise<string | undefined> => {
  const env = { ...process.env, NODE_COMPILE_CACHE: compiled };
  const child = spawn(process.execPath, [join(import.meta.dirname, "process.ts"), JSON.stringify(order)], {
    env,
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  child.stderr.on("data", (data: Buffer) => (said += data.toString()));
  const death = setTimeout(() => child.kill("SIGTERM"), longestLifeMs);
  const [code, signal] = (await once(child, "exit")) as [number | null, string | null];
  clearTimeout(death);
  if (code === 0) return undefined;
  if (signal === "SIGKILL") return signal;
  const how = signal === "SIGTERM" ? "came to no end" : `ended with ${code ?? signal}`;
  throw new Error(`life ${order.life} ${how}, ${order.fate === undefined ? "" : describeFate(order.fate)}\n${said}`);
};

/** So many lives after each other, each killed; the one behind them lives until all is done. */
const lives = async (folder: string, fates: readonly Fate[]): Promise<number> => {
  let kills = 0;
  for (const [life, fate] of fates.entries()) {
    if ((await lived({ folder, life, fate })) !== undefined) kills += 1;
  }
  await lived({ folder, life: fates.length });
  return kills;
};

const metIn = (folder: string): ReadonlyMap<string, number> => {
  const file = join(folder, "fates.txt");
  const met = existsSync(file) ? readFileSync(file, "utf8").split("\n").slice(0, -1) : [];
  return new Map([...Map.groupBy(met, (place) => place)].map(([place, all]) => [place, all.length]));
};

/** Half of all places. */
const perFolder = places.length / 2;

/** Kills at half of the places, one after the other; an even seed at the first half, the lowest two as soon as it gets there. */
export const runKills = async (seed: number): Promise<RunKills> => {
  const random = new Random(seed);
  const folder = mkdtempSync(join(tmpdir(), "pawl-runs-"));
  const half = seed % 2 === 0 ? places.slice(0, perFolder) : places.slice(perFolder);
  const fates = half.map((place): Fate => ({ ...place, nth: seed < 2 ? 1 : 1 + random.below(3) }));
  try {
    const kills = await lives(folder, fates);
    const { runs, wrong } = await checkRuns(folder);
    const report = { kills, runs, at: metIn(folder), wrong, folder };
    if (wrong.length === 0) rmSync(folder, { recursive: true });
    return report;
  } catch (thrown) {
    throw new Error(`seed ${seed}, in ${folder}`, { cause: thrown });
  }
};

/** Kills a host with background runs again and again at named points, then checks the result. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bundled } from "../../../../test/runtime/bundled.ts";
import { Random } from "../kill/random.ts";
import { checkRuns } from "./check.ts";
import { type Fate, describeFate, places } from "./fate.ts";
import type { Order } from "./process.ts";

export interface RunKills {
  readonly kills: number;
  readonly runs: number;
  /** Number of deaths at each point. */
  readonly at: ReadonlyMap<string, number>;
  readonly wrong: readonly string[];
  readonly folder: string;
}

/** Longer than any healthy life on a busy machine. */
const longestLifeMs = 120_000;
const compiled = join(tmpdir(), "pawl-kills-cache");
const program = await bundled(join(import.meta.dirname, "process.ts"));

/** Runs one life. Returns the signal that ended it; undefined if it completed. */
const lived = async (order: Order): Promise<string | undefined> => {
  const env = { ...process.env, NODE_COMPILE_CACHE: compiled };
  const child = spawn(process.execPath, [program, JSON.stringify(order)], {
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

/** Runs one life for each fate, then a last one that completes. */
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

/** Half of all points. */
const perFolder = places.length / 2;

/**
 * Kills at half of the points in turn: the first half for an even seed. The two lowest seeds kill on the first visit.
 */
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

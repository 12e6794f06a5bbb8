/** Agents work with a host that is killed again and again; then their records are compared with the logs. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bundled } from "../../../../test/runtime/bundled.ts";
import { type Account, Agent } from "./agent.ts";
import { checkWorld } from "./check.ts";
import { type Fate, type Point, points } from "./fate.ts";
import { Life } from "./life.ts";
import type { Order } from "./order.ts";
import { Place } from "./place.ts";
import { programOf } from "./program.ts";
import { Random } from "./random.ts";

export interface KillOptions {
  readonly kills: number;
  readonly seed: number;
  /** Concurrent sessions. */
  readonly agents?: number;
}

export interface KillReport {
  readonly kills: number;
  readonly sessions: number;
  readonly events: number;
  readonly steps: number;
  /** Number of deaths at each named point. */
  readonly at: { readonly [P in Point]?: number };
  /** Violations; the folder of the run is kept if there are any. */
  readonly wrong: readonly string[];
  readonly folder: string;
}

/** The program of a host, for lives that are many. */
export const hostProgram = await bundled(join(import.meta.dirname, "process.ts"));

/** Life of a process that reaches no named point. */
const longestLifeMs = 1000;
const randomLifeMs = 120;

/** Two of three deaths are at a named point. */
const fateOf = (random: Random): Fate | undefined =>
  random.below(3) === 0 ? undefined : { point: random.of(points), nth: 1 + random.below(6), signal: "SIGKILL" };

export class World {
  readonly folder: string;
  readonly place = new Place();
  readonly #random: Random;
  readonly #lives: Life[] = [];
  #spare: Life;
  killed = 0;

  constructor(seed: number) {
    this.folder = mkdtempSync(join(tmpdir(), "pawl-kills-"));
    this.#random = new Random(seed);
    this.#spare = this.#load();
  }

  #load(): Life {
    const life = new Life([], hostProgram);
    this.#lives.push(life);
    return life;
  }

  /** Starts the next process; one more loads its modules meanwhile. */
  async #next(fate?: Fate): Promise<Life> {
    const life = this.#spare;
    this.#spare = this.#load();
    const instance = `host-${this.killed}`;
    const commits = this.#random.of<Order["commits"]>(["inline", "thread"]);
    const order = { folder: this.folder, instance, commits, snapshots: true, ...(fate === undefined ? {} : { fate }) };
    this.place.moveTo(await life.begin(order));
    return life;
  }

  /** Kills processes one after the other and leaves the last one alive. */
  async kill(times: number): Promise<void> {
    while (this.killed < times) {
      const fate = fateOf(this.#random);
      const life = await this.#next(fate);
      const ms = fate === undefined ? 20 + this.#random.below(randomLifeMs) : longestLifeMs;
      const death = setTimeout(() => life.kill(), ms);
      const signal = await life.ended;
      clearTimeout(death);
      this.place.moveTo(undefined);
      if (signal !== "SIGKILL") throw new Error(`host-${this.killed} ended by itself`);
      this.killed += 1;
    }
    await this.#next();
  }

  get fates(): KillReport["at"] {
    const file = join(this.folder, "fates.txt");
    const met = existsSync(file) ? (readFileSync(file, "utf8").split("\n").slice(0, -1) as Point[]) : [];
    return Object.fromEntries(points.map((point) => [point, met.filter((one) => one === point).length]));
  }

  async end(): Promise<void> {
    this.place.close();
    for (const life of this.#lives) life.kill();
    await Promise.all(this.#lives.map(({ ended }) => ended));
  }
}

/** Runs agents that start sessions one after the other, as long as there are more. */
const work = async (world: World, agents: number, seed: number, hasMore: (n: number) => boolean) => {
  const accounts: Account[] = [];
  let n = 0;
  const agent = async (): Promise<void> => {
    const client = world.place.client();
    while (hasMore(n)) accounts.push(await new Agent(client, programOf(seed, n++)).run());
  };
  await Promise.all(Array.from({ length: agents }, agent));
  return accounts;
};

/** Runs the same sessions with a host that is not killed. */
const undisturbed = async (seed: number, sessions: number): Promise<readonly Account[]> => {
  const world = new World(seed);
  try {
    await world.kill(0);
    return await work(world, 8, seed, (n) => n < sessions);
  } finally {
    await world.end();
    rmSync(world.folder, { recursive: true });
  }
};

/** Kills a host many times. The report lists violations and the folder to inspect. */
export const runKills = async ({ kills, seed, agents = 6 }: KillOptions): Promise<KillReport> => {
  const world = new World(seed);
  const { folder } = world;
  try {
    const working = work(world, agents, seed, () => world.killed < kills);
    const [accounts] = await Promise.all([working, world.kill(kills)]);
    await world.end();
    const expected = await undisturbed(seed, accounts.length);
    const checked = await checkWorld(folder, accounts, expected);
    const report = { kills, sessions: accounts.length, at: world.fates, ...checked, folder };
    if (checked.wrong.length === 0) rmSync(folder, { recursive: true });
    return report;
  } catch (thrown) {
    throw new Error(`seed ${seed}, after ${world.killed} kills, in ${folder}`, { cause: thrown });
  } finally {
    await world.end();
  }
};

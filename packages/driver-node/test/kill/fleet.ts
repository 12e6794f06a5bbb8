/** Three hosts on one PostgreSQL database, any of which is killed while agents work; then records and logs are compared. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { type Account, Agent } from "./agent.ts";
import { checkWorld } from "./check.ts";
import { type Fate, points } from "./fate.ts";
import { journalOf } from "./journal.ts";
import { Life } from "./life.ts";
import type { Order } from "./order.ts";
import { Place } from "./place.ts";
import { programOf } from "./program.ts";
import { Random } from "./random.ts";
import { hostProgram } from "./run.ts";

export interface FleetOptions {
  readonly url: string;
  readonly seed: number;
  readonly kills: number;
  /** Freezes hosts for longer than their lease as well, as often as it kills them. */
  readonly freezes?: boolean;
  /** Called between kills, for faults of the database. */
  readonly disturb?: (killed: number) => Promise<void>;
}

export interface FleetReport {
  readonly kills: number;
  readonly freezes: number;
  readonly sessions: number;
  readonly events: number;
  readonly steps: number;
  /** Times at which another host took a session over. */
  readonly takeovers: number;
  readonly at: Readonly<Record<string, number>>;
  readonly wrong: readonly string[];
  readonly folder: string;
}

const agentsOfHost = 2;
const shortLeaseMs = 1500;

/** The lease of hosts that nobody kills: no busy machine stops one for as long, so that none loses its sessions. */
const longLeaseMs = 60_000;

/** One of the hosts: the process that runs now, and the address that its agents use. */
class Seat {
  readonly place = new Place();
  readonly #order: Omit<Order, "fate">;
  #lives = 0;
  life: Life | undefined;
  url: string | undefined;

  constructor(order: Omit<Order, "fate">) {
    this.#order = order;
  }

  async start(fate?: Fate): Promise<void> {
    const life = new Life([], hostProgram);
    this.life = life;
    const instance = `${this.#order.instance}-${(this.#lives += 1)}`;
    this.url = await life.begin({ ...this.#order, instance, ...(fate !== undefined && { fate }) });
  }

  async end(): Promise<void> {
    this.life?.kill();
    await this.life?.ended;
  }
}

const others = (order: Omit<Order, "fate" | "instance">): readonly Seat[] =>
  ["host-b", "host-c"].map((instance) => new Seat({ ...order, instance }));

class Fleet {
  readonly folder = mkdtempSync(join(tmpdir(), "pawl-fleet-"));
  readonly seats: readonly [Seat, ...Seat[]];
  readonly #random: Random;
  readonly postgres: NonNullable<Order["postgres"]>;
  killed = 0;
  frozen = 0;

  constructor({ url, seed }: FleetOptions, leaseMs: number) {
    this.#random = new Random(seed);
    this.postgres = { url, schema: `fleet_${seed}_${Date.now()}` };
    const { folder, postgres } = this;
    const order = { folder, commits: "inline", leaseMs, snapshots: true, postgres } as const;
    this.seats = [new Seat({ ...order, instance: "host-a" }), ...others(order)];
  }

  async start(): Promise<void> {
    await Promise.all(this.seats.map((seat) => seat.start()));
    this.#direct();
  }

  /** Sends the agents of each host to it, and those of a dead one to the next. */
  #direct(): void {
    for (const [i, { place }] of this.seats.entries()) {
      const next = [...this.seats.slice(i), ...this.seats.slice(0, i)].find(({ url }) => url !== undefined);
      place.moveTo(next?.url);
    }
  }

  #fate(): Fate | undefined {
    if (this.#random.below(2) === 0) return undefined;
    return { point: this.#random.of(points), nth: 1 + this.#random.below(6), signal: "SIGKILL" };
  }

  /** Kills a random host at a point or at a moment. Another one starts in its place while the others work on. */
  async kill(): Promise<void> {
    const seat = this.#random.of(this.seats);
    const fate = this.#fate();
    await pause(this.#random.below(200));
    await seat.end();
    seat.url = undefined;
    this.#direct();
    seat.place.reconnect();
    this.killed += 1;
    await pause(this.#random.below(400));
    await seat.start(fate);
    this.#direct();
    if (fate === undefined) return;
    const isMet = await Promise.race([seat.life?.ended.then(() => true), pause(1500).then(() => false)]);
    if (isMet !== true) return;
    this.killed += 1;
    seat.url = undefined;
    this.#direct();
    await seat.start();
    this.#direct();
    seat.place.reconnect();
  }

  /** Freezes a random host beyond its lease: others take its sessions, and it wakes to find that they are not its own. */
  async freeze(): Promise<void> {
    const seat = this.#random.of(this.seats);
    const { url, life } = seat;
    await pause(this.#random.below(200));
    life?.freeze();
    seat.url = undefined;
    this.#direct();
    seat.place.reconnect();
    await pause(shortLeaseMs + 500 + this.#random.below(500));
    life?.wake();
    this.frozen += 1;
    seat.url = url;
    this.#direct();
    await pause(this.#random.below(200));
  }

  async end(): Promise<void> {
    for (const { place } of this.seats) place.close();
    await Promise.all(this.seats.map((seat) => seat.end()));
  }

  get fates(): Readonly<Record<string, number>> {
    const file = join(this.folder, "fates.txt");
    const met = existsSync(file) ? readFileSync(file, "utf8").split("\n").slice(0, -1) : [];
    return Object.fromEntries([...Map.groupBy(met, (point) => point)].map(([point, all]) => [point, all.length]));
  }
}

const work = async (fleet: Fleet, seed: number, hasMore: (n: number) => boolean): Promise<readonly Account[]> => {
  const accounts: Account[] = [];
  let n = 0;
  const agent = async ({ place }: Seat): Promise<void> => {
    const client = place.client();
    while (hasMore(n)) accounts.push(await new Agent(client, programOf(seed, n++)).run());
  };
  await Promise.all(fleet.seats.flatMap((seat) => Array.from({ length: agentsOfHost }, () => agent(seat))));
  return accounts;
};

/** Runs the same sessions with hosts that are not killed. */
const undisturbed = async (options: FleetOptions, sessions: number): Promise<readonly Account[]> => {
  const fleet = new Fleet(options, longLeaseMs);
  try {
    await fleet.start();
    return await work(fleet, options.seed, (n) => n < sessions);
  } finally {
    await fleet.end();
    rmSync(fleet.folder, { recursive: true });
  }
};

/** Counts how often a session went from one host to another. */
const takeoversIn = async (fleet: Fleet, accounts: readonly Account[]): Promise<number> => {
  const journal = journalOf(fleet);
  let takeovers = 0;
  for (const { program } of accounts) {
    const lines = await journal.read(`session:${program.session}`, 1);
    const owners = lines.flatMap(({ line }) => /"owner":"(host-.)/.exec(line)?.[1] ?? []);
    takeovers += owners.filter((owner, i) => i > 0 && owner !== owners[i - 1]).length;
  }
  await journal.close();
  return takeovers;
};

export const runFleet = async (options: FleetOptions): Promise<FleetReport> => {
  const { kills, seed, freezes = false, disturb } = options;
  const fleet = new Fleet(options, shortLeaseMs);
  const { folder } = fleet;
  try {
    await fleet.start();
    const killing = async (): Promise<void> => {
      while (fleet.killed < kills) {
        await disturb?.(fleet.killed);
        await fleet.kill();
        if (freezes) await fleet.freeze();
      }
    };
    const [accounts] = await Promise.all([work(fleet, seed, () => fleet.killed < kills), killing()]);
    await fleet.end();
    const expected = await undisturbed(options, accounts.length);
    const checked = await checkWorld({ folder, postgres: fleet.postgres }, accounts, expected);
    const takeovers = await takeoversIn(fleet, accounts);
    const report = {
      kills: fleet.killed,
      freezes: fleet.frozen,
      sessions: accounts.length,
      takeovers,
      at: fleet.fates,
      ...checked,
      folder,
    };
    if (checked.wrong.length === 0) rmSync(folder, { recursive: true });
    return report;
  } catch (thrown) {
    throw new Error(`seed ${seed}, after ${fleet.killed} kills, in ${folder}`, { cause: thrown });
  } finally {
    await fleet.end();
  }
};

/**
 * The soak: customers come and go while hosts are killed. Memory and file size are sampled, then everything is checked.
 */
import { rmSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { type Checked, checkTown, toldIn } from "./check.ts";
import { type Account, Customer } from "./customer.ts";
import type { Sample } from "./slope.ts";
import { Town } from "./town.ts";

export interface SoakOptions {
  readonly seconds: number;
  readonly killEverySeconds: number;
  readonly seed: number;
  /** Sessions that last as long as the soak, and as many pairs of short ones at a time. */
  readonly customers: number;
}

/** Samples taken during the soak. */
export interface Weighed {
  /** Samples of the host that is not killed in the second half. */
  readonly heap: readonly Sample[];
  readonly resident: readonly Sample[];
  readonly file: readonly Sample[];
  /** Number of sessions started when the file was sampled. */
  readonly begun: readonly Sample[];
}

export interface SoakReport extends Checked, Weighed {
  readonly seconds: number;
  readonly kills: number;
  readonly sessions: number;
  readonly turns: number;
  readonly folder: string;
}

const turnsOfShort = 8;
const samples = 120;
const settleSeconds = 60;

class Soak {
  readonly #town = new Town();
  readonly #options: SoakOptions;
  readonly #begun = performance.now();
  readonly #accounts: Account[] = [];
  readonly #weighed: { readonly [What in keyof Weighed]: Sample[] } = { heap: [], resident: [], file: [], begun: [] };
  readonly #over = new AbortController();

  constructor(options: SoakOptions) {
    this.#options = options;
  }

  get #seconds(): number {
    return (performance.now() - this.#begun) / 1000;
  }

  get #isOver(): boolean {
    return this.#seconds >= this.#options.seconds || this.#over.signal.aborted;
  }

  #customer(session: string, n: number): Customer {
    const customer = new Customer(this.#town, session, this.#options.seed * 1_000_003 + n);
    this.#accounts.push(customer.account);
    return customer;
  }

  /** Runs two sessions that meet at the end, then the next two, and so on. */
  async #pairs(n: number): Promise<void> {
    for (let pair = 0; !this.#isOver; pair++) {
      const names = [`p${n}-${pair}-a`, `p${n}-${pair}-b`] as const;
      const meeting = (i: number): Promise<void> => {
        const [own, partner] = [names[i] as string, names[1 - i] as string];
        const customer = this.#customer(own, i);
        return customer.live(
          (turns) => turns < turnsOfShort && !this.#isOver,
          () => customer.meet(partner),
        );
      };
      await Promise.all([meeting(0), meeting(1)]);
    }
  }

  async #kill(): Promise<void> {
    const { killEverySeconds, seconds } = this.#options;
    const { steady, other } = this.#town;
    while (await this.#rest(killEverySeconds)) {
      const isFirstHalf = this.#seconds < seconds / 2;
      await this.#town.kill(isFirstHalf && this.#town.killed % 2 === 1 ? steady : other);
    }
  }

  async #weigh(): Promise<void> {
    while (await this.#rest(this.#options.seconds / samples)) {
      const weight = await this.#town.steady.weight();
      const at = this.#seconds;
      if (weight !== undefined) {
        this.#weighed.heap.push({ at, value: weight.heap });
        this.#weighed.resident.push({ at, value: weight.resident });
      }
      this.#weighed.file.push({ at, value: this.#town.fileBytes });
      this.#weighed.begun.push({ at, value: this.#accounts.length });
    }
  }

  /** Waits some seconds. Returns whether there is more to come. */
  async #rest(seconds: number): Promise<boolean> {
    await pause(seconds * 1000, undefined, { signal: this.#over.signal }).catch(() => undefined);
    return !this.#isOver;
  }

  async run(): Promise<SoakReport> {
    const { customers } = this.#options;
    try {
      await this.#town.begin();
      const long = Array.from({ length: customers }, (_, n) => this.#customer(`s${n}`, n).live(() => !this.#isOver));
      const short = Array.from({ length: customers }, (_, n) => this.#pairs(n));
      const failing = [...long, ...short, this.#kill(), this.#weigh()].map((one) =>
        one.catch((thrown: unknown) => {
          this.#over.abort();
          throw thrown;
        }),
      );
      const ends = await Promise.allSettled(failing);
      const wrong = ends.flatMap((end) => (end.status === "rejected" ? [String(end.reason)] : []));
      await this.#settled();
      return await this.#report(wrong);
    } finally {
      await this.#town.end();
    }
  }

  /** Waits until due schedules have fired and unawaited work is recorded. */
  async #settled(): Promise<void> {
    const awaited = this.#accounts.flatMap(({ schedules }) => schedules);
    const isAllTold = (): boolean => {
      const told = toldIn(this.#town.folder);
      return awaited.every((id) => told.has(id));
    };
    for (let i = 0; i < settleSeconds && !isAllTold(); i++) await pause(1000);
    await pause(1000);
  }

  async #report(failed: readonly string[]): Promise<SoakReport> {
    const { folder, killed: kills } = this.#town;
    const seconds = this.#seconds;
    await this.#town.end();
    const checked = await checkTown(folder, this.#accounts);
    const wrong = [...failed, ...checked.wrong];
    if (wrong.length === 0) rmSync(folder, { recursive: true });
    const turns = this.#accounts.reduce((sum, account) => sum + account.turns, 0);
    return { ...checked, wrong, seconds, kills, sessions: this.#accounts.length, turns, ...this.#weighed, folder };
  }
}

export const soak = (options: SoakOptions): Promise<SoakReport> => new Soak(options).run();

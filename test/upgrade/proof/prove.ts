/** The proofs: what holds however often the hosts die. Each gives what it saw, and what was wrong. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { OpenOptions } from "@pawl/driver-node";
import { Dice } from "../town.ts";
import type { Order } from "./host.ts";
import { Life } from "./life.ts";
import { type Note, Service } from "./service.ts";

export interface Proof {
  readonly kills: number;
  readonly words: string;
  readonly wrong: readonly string[];
}

export interface Given {
  readonly seed: number;
  readonly kills: number;
  readonly options?: Partial<OpenOptions>;
}

/** A place for one proof: a folder with a journal, and a service. */
class Place {
  readonly service: Service;
  readonly #folder: string;

  private constructor(service: Service, folder: string) {
    this.service = service;
    this.#folder = folder;
  }

  static async open(): Promise<Place> {
    return new Place(await Service.open(), mkdtempSync(join(tmpdir(), "pawl-proof-")));
  }

  start(of: Omit<Order, "file" | "url" | "version"> & { readonly version?: string }): Promise<Life> {
    return Life.start({ version: "1", ...of, file: join(this.#folder, "journal.db"), url: this.service.url });
  }

  async close(): Promise<void> {
    await this.service.close();
    rmSync(this.#folder, { recursive: true });
  }
}

const within = async <A>(prove: (place: Place) => Promise<A>): Promise<A> => {
  const place = await Place.open();
  try {
    return await prove(place);
  } finally {
    await place.close();
  }
};

/** Waits until something holds. Resolves with false where it does not in time. */
const until = async (holds: () => boolean, ms: number): Promise<boolean> => {
  for (const end = performance.now() + ms; performance.now() < end; await wait(20)) if (holds()) return true;
  return holds();
};

const statusOf = (outcome: unknown): unknown => (outcome as { readonly status?: unknown } | undefined)?.status;

const customers = 8;
const patientMs = 60_000;

/** Kills the hosts of subscriptions of three months; each has to be charged three times, over a service that honours keys. */
export const proveSubscription = async (
  program: "subscription" | "signals",
  { seed, kills: wanted, options = {} }: Given,
): Promise<Proof> =>
  within(async (place) => {
    const dice = new Dice(seed);
    const wrong: string[] = [];
    let kills = 0;
    let round = 0;
    for (; kills < wanted; round++) {
      const who = Array.from({ length: customers }, (_, i) => `${round}-${i}`);
      const isDone = (): boolean => who.every((one) => place.service.reply(one) !== undefined);
      while (!isDone()) {
        const life = await place.start({ program, who, options });
        const isLast = kills >= wanted;
        if (await until(isDone, isLast ? patientMs : 20 + dice.below(500))) await life.close();
        else if (isLast) {
          await life.kill();
          break;
        } else {
          await life.kill();
          kills += 1;
        }
      }
      for (const one of who) {
        const charges = place.service.charges(one);
        const status = statusOf(place.service.reply(one));
        if (charges !== 3 || status !== "success") wrong.push(`${one}: ${charges} of 3 charges, ${String(status)}`);
      }
    }
    return { kills, words: `${round * customers} ${program} programs of three months`, wrong };
  });

/** Restarts the host of an agent that waits for a person, half of the times by SIGKILL; then the person approves. */
export const proveAgent = async ({ seed, kills: restarts, options = {} }: Given): Promise<Proof> =>
  within(async (place) => {
    const dice = new Dice(seed);
    const who = ["a"];
    let kills = 0;
    for (let n = 0; n < restarts; n++) {
      const life = await place.start({ program: "agent", who, options });
      await wait(dice.pick([50, 400, 2500]));
      if (n % 2 === 0) await life.close();
      else {
        await life.kill();
        kills += 1;
      }
    }
    const wrong: string[] = [];
    if (place.service.reply("a") !== undefined) wrong.push(`ended while it waited: ${JSON.stringify(place.service.reply("a"))}`);
    const life = await place.start({ program: "agent", who, options });
    await wait(500);
    await life.act(who);
    if (!(await until(() => place.service.reply("a") !== undefined, patientMs))) wrong.push("no reply after the approval");
    await life.close();
    const charges = place.service.charges("a");
    if (charges !== 1) wrong.push(`charged ${charges} times`);
    const status = statusOf(place.service.reply("a"));
    if (status !== "success") wrong.push(`replied ${JSON.stringify(place.service.reply("a"))}`);
    return { kills, words: `${restarts} restarts of an agent that waits for a person`, wrong };
  });

/** Kills the README's tool in its first step; it has to go on each time, after the stated pause. */
export const proveTrip = async (
  { kills: wanted, options = {} }: Given,
  pausesMs: readonly number[],
): Promise<Proof> =>
  within(async (place) => {
    const wrong: string[] = [];
    const waited: number[] = [];
    const who = ["a"];
    for (let kills = 0; kills < wanted; kills++) {
      const booking = Promise.withResolvers<Note>();
      place.service.onNote = booking.resolve;
      const life = await place.start({ program: "trip", who, options });
      const up = performance.now();
      const pause = pausesMs[Math.min(kills, pausesMs.length - 1)] ?? 0;
      const note = await Promise.race([booking.promise, wait(pause + 20_000)]);
      if (note === undefined) wrong.push(`after ${kills} kills it does not go on: ${JSON.stringify(place.service.reply("a"))}`);
      else waited.push(note.at - up);
      await life.kill();
      if (note === undefined) return { kills, words: "the README's tool in its first step", wrong };
    }
    place.service.onNote = () => undefined;
    const life = await place.start({ program: "trip", who, options });
    await until(() => place.service.reply("a") !== undefined, patientMs);
    await life.close();
    const reply = JSON.stringify(place.service.reply("a"));
    if (statusOf(place.service.reply("a")) !== "success") wrong.push(`replied ${reply}`);
    for (const [i, ms] of waited.entries()) {
      const pause = pausesMs[Math.min(i, pausesMs.length - 1)] ?? 0;
      if (ms < pause - 200) wrong.push(`after ${i} kills it went on in ${Math.round(ms)} ms, and the pause is ${pause} ms`);
    }
    const longest = Math.round(Math.max(...waited));
    return { kills: wanted, words: `the README's tool in its first step; it went on within ${longest} ms at most`, wrong };
  });

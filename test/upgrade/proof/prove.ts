/** The proofs: what holds however often the hosts die. Each gives what it saw, and what was wrong. */
import { setTimeout as wait } from "node:timers/promises";
import { Dice } from "../town.ts";
import { type Given, type Proof, statusOf, until, within } from "./place.ts";
import type { Note } from "./service.ts";

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
    if (place.service.reply("a") !== undefined)
      wrong.push(`ended while it waited: ${JSON.stringify(place.service.reply("a"))}`);
    const life = await place.start({ program: "agent", who, options });
    await wait(500);
    await life.act("approve", { a: "" });
    if (!(await until(() => place.service.reply("a") !== undefined, patientMs)))
      wrong.push("no reply after the approval");
    await life.close();
    const charges = place.service.charges("a");
    if (charges !== 1) wrong.push(`charged ${charges} times`);
    const status = statusOf(place.service.reply("a"));
    if (status !== "success") wrong.push(`replied ${JSON.stringify(place.service.reply("a"))}`);
    return { kills, words: `${restarts} restarts of an agent that waits for a person`, wrong };
  });

/** Kills the README's tool in its first step; it has to go on each time, after the stated pause. */
export const proveTrip = async ({ kills: wanted, options = {} }: Given, pausesMs: readonly number[]): Promise<Proof> =>
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
      if (note === undefined)
        wrong.push(`after ${kills} kills it does not go on: ${JSON.stringify(place.service.reply("a"))}`);
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
      if (ms < pause - 200)
        wrong.push(`after ${i} kills it went on in ${Math.round(ms)} ms, and the pause is ${pause} ms`);
    }
    const longest = Math.round(Math.max(...waited));
    return {
      kills: wanted,
      words: `the README's tool in its first step; it went on within ${longest} ms at most`,
      wrong,
    };
  });

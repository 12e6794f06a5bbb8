/** The proofs: what holds however often the hosts die. Each gives what it saw, and what was wrong. */
import { setTimeout as wait } from "node:timers/promises";
import type { OpenOptions } from "@pawl/driver-node";
import { Dice } from "../town.ts";
import { type Given, type Place, type Proof, statusOf, until, within } from "./place.ts";
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

/** How much sooner or later than its pause says a body may go on: a host takes that long to start. */
const lateMs = 15_000;

interface Trip {
  readonly kills: number;
  /** The pause after each crash in a row. */
  readonly pausesMs: readonly number[];
  readonly options: Partial<OpenOptions>;
}

/** The pause after so many kills. The first is after a new record, the request of the step, and does not count. */
const pauseAfter = (kills: number, pausesMs: readonly number[]): number =>
  kills < 2 ? 0 : (pausesMs[Math.min(kills - 1, pausesMs.length) - 1] ?? 0);

/** Starts a host and kills it as soon as the first step of the tool has begun. Returns how long that took. */
const killedInStep = async (
  place: Place,
  options: Partial<OpenOptions>,
  mostMs: number,
): Promise<number | undefined> => {
  const { promise: begun, resolve } = Promise.withResolvers<Note>();
  place.service.onNote = (note) => {
    if (note.who === "a") resolve(note);
  };
  const life = await place.start({ program: "trip", who: ["a"], options });
  const up = performance.now();
  const note = await Promise.race([begun, wait(mostMs, undefined)]);
  await life.kill();
  return note === undefined ? undefined : note.at - up;
};

/** Kills the README's tool in its first step; it has to go on each time, after the pause that is stated, and say so. */
export const proveTrip = async ({ kills, pausesMs, options }: Trip): Promise<Proof> =>
  within(async (place) => {
    const wrong: string[] = [];
    const took: number[] = [];
    for (let n = 0; n < kills && wrong.length === 0; n++) {
      const pause = pauseAfter(n, pausesMs);
      const ms = await killedInStep(place, options, pause + lateMs);
      if (ms === undefined)
        wrong.push(`after ${n} kills it does not go on: ${JSON.stringify(place.service.reply("a"))}`);
      else if (ms < pause - 100)
        wrong.push(`after ${n} kills it went on in ${Math.round(ms)} ms, in a pause of ${pause} ms`);
      took.push(ms ?? 0);
    }
    const life = await place.start({ program: "trip", who: ["a"], options });
    await until(() => place.service.reply("a") !== undefined, patientMs);
    await life.close();
    const reply = place.service.reply("a");
    if (statusOf(reply) !== "success") wrong.push(`replied ${JSON.stringify(reply)}`);
    const said = place.service.notes.filter(({ who }) => who === "log").map(({ text }) => text);
    const last = `${kills - 1} crashes in a row, last in step \`book train\``;
    if (!said.some((text) => text.endsWith(last))) wrong.push(`no warning says \`${last}\`, but \`${said.at(-1)}\``);
    const longest = Math.round(Math.max(...took));
    const words = `the README's tool in its first step, which went on within ${longest} ms ("${said.at(-1)}")`;
    return { kills, words, wrong };
  });

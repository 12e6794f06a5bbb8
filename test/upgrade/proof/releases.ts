/**
 * Parked sessions that are carried over five releases: protocol 1, protocol 2, a second version of the code beside another host,
 * a third that asks for other things, and the second once more. None may be lost, and each thing is done once.
 */
import type { OpenOptions } from "@pawl/driver-node";
import type { Life } from "./life.ts";
import { type Place, type Proof, statusOf, until, within } from "./place.ts";

export interface Carried {
  readonly sessions: number;
  readonly options?: Partial<OpenOptions>;
}

/** Time for one release to get where it should. */
const releaseMs = 300_000;

class Releases {
  readonly #place: Place;
  readonly #options: Partial<OpenOptions>;
  readonly who: readonly string[];
  readonly wrong: string[] = [];
  kills = 0;

  constructor(place: Place, { sessions, options = {} }: Carried) {
    this.#place = place;
    this.#options = { patience: { suspendMs: 200 }, ...options };
    this.who = Array.from({ length: sessions }, (_, i) => `order-${i}`);
  }

  /** Returns a quarter of the sessions. */
  quarter(n: number): readonly string[] {
    return this.who.filter((_, i) => i % 4 === n);
  }

  start(version: string, who = this.who, options: Partial<OpenOptions> = {}): Promise<Life> {
    return this.#place.start({ program: "orders", version, who, options: { ...this.#options, ...options } });
  }

  #tokens(who: readonly string[]): { readonly [who: string]: string } {
    const handed = new Map(this.#place.service.notes.map((note) => [note.who, note.text]));
    return Object.fromEntries(who.map((one) => [one, handed.get(one) ?? ""]));
  }
  approve(life: Life, who: readonly string[]): Promise<void> {
    return life.act("approve", this.#tokens(who));
  }
  answer(life: Life, who: readonly string[]): Promise<void> {
    return life.act("answer", this.#tokens(who));
  }

  isDone(who: readonly string[], what: string): boolean {
    return who.every((one) => this.#place.service.charges(`${one} ${what}`) === 1);
  }
  hasReplied(who: readonly string[]): boolean {
    return who.every((one) => this.#place.service.reply(one) !== undefined);
  }

  async expect(what: string, holds: () => boolean): Promise<void> {
    if (!(await until(holds, releaseMs))) this.wrong.push(`never: ${what}`);
  }

  /** Waits until so many sessions have a call in a phase. */
  async parked(life: Life, phase: string, count: number): Promise<void> {
    const end = performance.now() + releaseMs;
    let { phases } = await life.look();
    while ((phases[phase] ?? 0) < count && performance.now() < end) {
      await until(() => false, 200);
      ({ phases } = await life.look());
    }
    if ((phases[phase] ?? 0) < count) this.wrong.push(`never: ${count} calls ${phase}, but ${JSON.stringify(phases)}`);
  }

  /** Expects all sessions to be of a protocol. */
  async areOf(life: Life, protocol: number): Promise<void> {
    const { protocols } = await life.look();
    if (protocols[protocol] !== this.who.length)
      this.wrong.push(`expected all under protocol ${protocol}, found ${JSON.stringify(protocols)}`);
  }

  async kill(...lives: readonly Life[]): Promise<void> {
    for (const life of lives) await life.kill();
    this.kills += lives.length;
  }

  judge(): void {
    for (const one of this.who) {
      const reply = this.#place.service.reply(one);
      if (statusOf(reply) !== "success") this.wrong.push(`${one}: replied ${JSON.stringify(reply)}`);
      for (const what of ["reserve", "ship", "bill"]) {
        const times = this.#place.service.charges(`${one} ${what}`);
        if (times !== 1) this.wrong.push(`${one}: ${what} ${times} times`);
      }
      for (const what of ["hold", "gift"]) {
        const times = this.#place.service.charges(`${one} ${what}`);
        if (times > (what === "gift" ? 1 : 0)) this.wrong.push(`${one}: ${what} ${times} times`);
      }
    }
  }
}

export const proveReleases = async (carried: Carried): Promise<Proof> =>
  within(async (place) => {
    const releases = new Releases(place, carried);
    const { who } = releases;
    const [q1, q2, q3, q4] = [0, 1, 2, 3].map((n) => releases.quarter(n)) as [string[], string[], string[], string[]];
    const early = q1.filter((_, i) => i % 2 === 0);

    const old = await releases.start("1", who, { upgrade: "never" });
    await releases.parked(old, "awaiting_approval", who.length);
    await releases.areOf(old, 1);
    await releases.kill(old);

    const first = await releases.start("1");
    await releases.parked(first, "awaiting_approval", who.length);
    await releases.approve(first, q1);
    await releases.expect("the first quarter is shipped by version 1", () => releases.isDone(q1, "ship"));
    await releases.areOf(first, 2);
    await first.close();

    const both = await Promise.all([releases.start("2"), releases.start("1")]);
    for (const life of both) await Promise.all([releases.answer(life, early), releases.approve(life, q2)]);
    await releases.expect("what was answered has replied", () => releases.hasReplied(early));
    await releases.expect("the second quarter is shipped", () => releases.isDone(q2, "ship"));
    await releases.kill(...both);

    const bad = await releases.start("3");
    await releases.approve(bad, q3);
    await releases.answer(bad, q2);
    await releases.parked(bad, "unknown", q2.length + q3.length);
    await releases.kill(bad);

    const back = await releases.start("2");
    await releases.approve(back, q4);
    await releases.answer(back, who);
    await releases.expect("all have replied", () => releases.hasReplied(who));
    await back.close();
    releases.judge();
    return { kills: releases.kills, words: `${who.length} parked sessions over five releases`, wrong: releases.wrong };
  });

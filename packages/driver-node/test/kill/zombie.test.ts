/** Two hosts on one journal file: one takes scopes from the other, which had stalled for too long. */
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { HostRefused } from "@pawl/wire";
import { type Account, Agent } from "./agent.ts";
import { checkWorld } from "./check.ts";
import { Effects } from "./effects.ts";
import type { Point } from "./fate.ts";
import { Life } from "./life.ts";
import { hostProgram } from "./run.ts";
import type { Order } from "./order.ts";
import { Place } from "./place.ts";
import { type Program, programOf } from "./program.ts";
import { until } from "../until.ts";

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

const newFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "pawl-zombie-"));
  ends.push(() => rmSync(folder, { recursive: true }));
  return folder;
};

const newPlace = (url: string | undefined): Place => {
  const place = new Place();
  ends.push(() => place.close());
  place.moveTo(url);
  return place;
};

interface Started {
  readonly life: Life;
  readonly url: string | undefined;
}

const start = async (folder: string, instance: string, more: Pick<Order, "leaseMs" | "fate" | "slowMs">) => {
  const life = new Life([], hostProgram);
  ends.push(() => (life.kill(), life.ended));
  const url = await life.begin({ folder, instance, commits: "inline", ...more });
  return { life, url } satisfies Started;
};

const run = (place: Place, programs: readonly Program[]): Promise<readonly Account[]> =>
  Promise.all(programs.map((program) => new Agent(place.client(), program).run()));

const alone = async (programs: readonly Program[]): Promise<readonly Account[]> => {
  const { url } = await start(newFolder(), "alone", {});
  return run(newPlace(url), programs);
};

const programs = Array.from({ length: 9 }, (_, n) => programOf(77, n));

/** A session that was not called yet cannot be stolen. */
const notYet = (thrown: unknown): number => {
  if (thrown instanceof HostRefused && thrown.code === "scope_unknown") return 0;
  throw thrown;
};

describe("two hosts on one journal file", () => {
  it("fence each other when they take each other's scopes, and double nothing", async () => {
    const folder = newFolder();
    const [one, two] = await Promise.all([start(folder, "one", {}), start(folder, "two", {})]);
    const thief = newPlace(two.url).client();
    const over = new AbortController();
    let stolen = 0;
    const steal = async ({ session }: Program): Promise<void> => {
      while (!over.signal.aborted) {
        stolen += await thief
          .session(session)
          .open()
          .then(() => 1, notYet);
        await pause(50);
      }
    };
    const thefts = programs.slice(0, 4).map(steal);
    const accounts = await run(newPlace(one.url), programs);
    over.abort();
    await Promise.all(thefts);
    expect(stolen).toBeGreaterThan(4);
    expect((await checkWorld(folder, accounts, await alone(programs))).wrong).toEqual([]);
  });

  it("leave the scopes of a live lease alone, and take them when its host is killed", async () => {
    const folder = newFolder();
    const leaseMs = 60_000;
    const [one, two] = await Promise.all([start(folder, "one", { leaseMs }), start(folder, "two", { leaseMs })]);
    const first = newPlace(one.url).client().session("s");
    const calls = [{ label: "c", tool: "steps", args: { call: "r:c", n: 2 } }];
    const [reply] = await first.request("r", calls, { keep: true });
    const second = newPlace(two.url).client().session("s");
    let isOpen = false;
    const opened = second.open().then(() => (isOpen = true));
    await pause(300);
    expect(isOpen).toBe(false);
    one.life.kill();
    await opened;
    expect(await second.replies("r")).toEqual([reply]);
  });
});

const leaseMs = 1000;

describe("a host that freezes until its lease has expired", () => {
  const points: readonly (readonly [Point, number])[] = [
    ["before_append", 8],
    ["after_append", 7],
    ["after_append", 12],
    ["after_effect", 6],
  ];
  it.each(points)("does nothing when it wakes: it froze at %s %i", async (point, nth) => {
    const folder = newFolder();
    const [zombie, next] = await Promise.all([
      start(folder, "zombie", { leaseMs, slowMs: 0, fate: { point, nth, signal: "SIGSTOP" } }),
      start(folder, "next", { leaseMs }),
    ]);
    const place = newPlace(zombie.url);
    const working = run(place, programs);
    let isOver = false;
    void working.finally(() => (isOver = true)).catch(() => undefined); // Awaited below.
    await until(() => isOver || existsSync(join(folder, "fates.txt")));
    expect(isOver).toBe(false);
    place.moveTo(next.url);
    place.reconnect();
    const accounts = await working;
    const wokenAt = Date.now();
    zombie.life.wake();
    const asked = newPlace(zombie.url)
      .client()
      .session(programs[0]?.session as string)
      .open();
    const told = await Promise.race([asked.catch((thrown: unknown) => thrown), pause(leaseMs)]);
    if (told instanceof Error) expect(told).toBeInstanceOf(HostRefused);
    const late = new Effects(folder).done.filter(({ instance, at }) => instance === "zombie" && at >= wokenAt);
    expect(late).toEqual([]);
    expect((await checkWorld(folder, accounts, await alone(programs))).wrong).toEqual([]);
  });
});

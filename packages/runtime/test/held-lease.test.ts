/** Tests what an instance believes of its lease: always less than what the store grants, and nothing once it is gone. */
import { describe, expect, it } from "vitest";
import { HeldLease } from "../src/lifecycle/lease.ts";
import { TestPlatform } from "./world.ts";

const ttlMs = 9000;
const [third, tenth] = [ttlMs / 3, ttlMs / 10];

const ask = <A>(asked: PromiseWithResolvers<A>[]): Promise<A> => {
  const one = Promise.withResolvers<A>();
  asked.push(one);
  return one.promise;
};

/** A lease whose store answers when it is told to. */
const begin = () => {
  const platform = new TestPlatform();
  const joins: PromiseWithResolvers<void>[] = [];
  const renewals: PromiseWithResolvers<boolean>[] = [];
  const told: unknown[] = [];
  const lease: HeldLease = new HeldLease({
    journal: { join: () => ask(joins), renew: () => ask(renewals) } as never,
    platform,
    instance: "i",
    lease: { ttlMs },
    lost: () => told.push(["lost", lease.holds]),
    held: () => told.push("held"),
    fault: (what) => told.push(what),
  });
  const pass = async (ms: number): Promise<void> => {
    platform.advance(ms);
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { platform, joins, renewals, told, lease, pass };
};

const joined = async () => {
  const all = begin();
  all.joins[0]?.resolve();
  await all.pass(0);
  return all;
};

describe("a lease", () => {
  it("is counted from before it was asked for, less a margin", async () => {
    const { joins, lease, pass } = begin();
    await pass(2000);
    expect(lease.holds).toBe(false);
    joins[0]?.resolve();
    await pass(0);
    await pass(ttlMs - tenth - 2001);
    expect(lease.holds).toBe(true);
    await pass(1);
    expect(lease.holds).toBe(false);
  });

  it("is renewed after a third of its time, and counted from before that was asked", async () => {
    const { renewals, told, lease, pass } = await joined();
    await pass(third);
    expect(renewals).toHaveLength(1);
    await pass(2000);
    renewals[0]?.resolve(true);
    await pass(0);
    expect(told).toEqual(["held", "held"]);
    await pass(ttlMs - tenth - 2001);
    expect(lease.holds).toBe(true);
    await pass(1);
    expect(lease.holds).toBe(false);
  });

  it("is asked for again soon where the store did not say, and given up where it does not hold any more", async () => {
    const { renewals, joins, told, lease, pass } = await joined();
    await pass(third);
    renewals[0]?.reject(new Error("away"));
    await pass(0);
    await pass(tenth);
    expect([renewals.length, lease.holds]).toEqual([2, true]);
    await pass(ttlMs);
    renewals[1]?.reject(new Error("away"));
    await pass(0);
    expect(told).toEqual(["held", "the lease could not be renewed", "the lease could not be renewed", ["lost", false]]);
    expect(joins).toHaveLength(2);
  });

  it("does not hold from when the store says that it is gone, until it was joined again", async () => {
    const { renewals, joins, told, lease, pass } = await joined();
    await pass(third);
    renewals[0]?.resolve(false);
    await pass(0);
    expect([told, lease.holds]).toEqual([["held", ["lost", false]], false]);
    joins[1]?.resolve();
    await pass(0);
    expect([told.at(-1), lease.holds]).toEqual(["held", true]);
  });

  it("is tried again after a while where it could not be joined again", async () => {
    const { renewals, joins, told, pass } = await joined();
    await pass(third);
    renewals[0]?.resolve(false);
    await pass(0);
    joins[1]?.reject(new Error("away"));
    await pass(0);
    expect(told.at(-1)).toBe("no lease could be had");
    await pass(tenth);
    expect(joins).toHaveLength(3);
    joins[2]?.resolve();
    await pass(0);
    expect([told.at(-1), renewals.length]).toEqual(["held", 1]);
  });
});

describe("a lease that was stopped", () => {
  it("holds no more, and is not renewed", async () => {
    const { renewals, lease, platform, pass } = await joined();
    lease.stop();
    expect([lease.holds, platform.timers]).toEqual([false, 0]);
    await pass(third);
    expect(renewals).toEqual([]);
  });

  it.each([true, false])("stays so, whatever a renewal on its way comes to: %s", async (isHeld) => {
    const { renewals, joins, told, lease, platform, pass } = await joined();
    await pass(third);
    lease.stop();
    renewals[0]?.resolve(isHeld);
    await pass(0);
    expect([told, joins.length, lease.holds, platform.timers]).toEqual([["held"], 1, false, 0]);
  });

  it("stays so where it was still being joined", async () => {
    const { joins, told, lease, platform, pass } = begin();
    lease.stop();
    joins[0]?.resolve();
    await pass(0);
    expect([told, lease.holds, platform.timers]).toEqual([[], false, 0]);
  });
});

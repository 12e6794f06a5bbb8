/** Tests what is at rest in memory, and out of it. */
import { describe, expect, it } from "vitest";
import { type Evicted, abandonEvicted, IdleCache } from "../src/lifecycle/eviction.ts";
import { Callers } from "../src/session/callers.ts";
import { TestPlatform } from "./world.ts";

const begin = (most = 10) => {
  const platform = new TestPlatform();
  const left: string[] = [];
  const lingering = new IdleCache<string>(platform, { ms: 1000, most }, (one) => left.push(one));
  return { platform, left, lingering };
};

describe("what is at rest", () => {
  it("leaves after its time, which begins anew with each rest, and waits for that by one timer", () => {
    const { platform, left, lingering } = begin();
    lingering.rest("a");
    platform.advance(600);
    lingering.rest("b");
    lingering.rest("a");
    expect(platform.timers).toBe(1);
    platform.advance(999);
    expect(left).toEqual([]);
    platform.advance(1);
    expect(left).toEqual(["b", "a"]);
    expect(platform.timers).toBe(0);
  });

  it("leaves at once where there are more than may be, those first that rest for longest", () => {
    const { left, lingering } = begin(2);
    for (const one of ["a", "b", "a", "c", "d"]) lingering.rest(one);
    expect(left).toEqual(["b", "a"]);
  });

  it("does not leave once it was forgotten, and makes no other leave", () => {
    const { platform, left, lingering } = begin(2);
    for (const one of ["a", "b"]) lingering.rest(one);
    lingering.forget("a");
    lingering.rest("c");
    expect(left).toEqual([]);
    platform.advance(1000);
    expect(left).toEqual(["b", "c"]);
  });
});

describe("what is out of memory", () => {
  it("is woken no more once it is another's, and who waits is told", async () => {
    const platform = new TestPlatform();
    const woken: string[] = [];
    const callers = new Callers();
    const told = new Promise((_, reject) => callers.add("r", { keep: false, resolve: () => undefined, reject }));
    const until = (name: string, ms: number): Evicted => ({ callOff: platform.later(ms, () => woken.push(name)) });
    const away = new Map<string, Evicted>([
      ["a", until("a", 1000)],
      ["b", { ...until("b", 2000), callers }],
    ]);
    platform.advance(1000);
    abandonEvicted(away, "the lease ran out");
    platform.advance(1000);
    expect([woken, away.size, platform.timers]).toEqual([["a"], 0, 0]);
    await expect(told).rejects.toMatchObject({ name: "ScopeLost", message: "the lease ran out" });
  });
});

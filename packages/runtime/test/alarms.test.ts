/** One heap of deadlines, one timer of the platform's. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Alarms } from "../src/scope/clock.ts";
import { TestPlatform } from "./world.ts";

const start = (): { readonly platform: TestPlatform; readonly alarms: Alarms; readonly rung: string[] } => {
  const platform = new TestPlatform();
  return { platform, alarms: new Alarms(platform), rung: [] };
};

describe("alarms", () => {
  it("ring in their order, at their time, those that were called off not at all", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(50), fc.boolean()), { maxLength: 40 }), fc.nat(49), (set, now) => {
        const { platform, alarms } = start();
        const rung: number[] = [];
        const all = set.map(([ms], i) => alarms.later(ms, () => rung.push(i)));
        for (const [i, [, isOff]] of set.entries()) if (isOff) all[i]?.();
        platform.advance(now);
        const due = [...set.entries()].filter(([, [ms, isOff]]) => !isOff && ms <= now);
        expect(rung.map((i) => set[i]?.[0])).toEqual(due.map(([, [ms]]) => ms).toSorted((a, b) => a - b));
        expect(rung.toSorted((a, b) => a - b)).toEqual(due.map(([i]) => i));
        platform.advance(50 - now);
        expect(rung).toHaveLength(set.filter(([, isOff]) => !isOff).length);
        expect(alarms.size).toBe(0);
      }),
    );
  });

  it("keep one timer, and none when nothing is due any more", () => {
    const { platform, alarms } = start();
    const callOffs = [30, 10, 20].map((ms) => alarms.later(ms, () => undefined));
    expect(platform.timers).toBe(1);
    for (const callOff of callOffs) callOff();
    expect(platform.timers).toBe(0);
  });

  it("hold up no others, whatever number a program gives", () => {
    const { platform, alarms, rung } = start();
    for (const ms of [Number.NaN, Infinity, -Infinity, -5, 10]) alarms.later(ms, () => void rung.push(`${ms}`));
    platform.advance(0);
    expect(rung).toEqual(["-Infinity", "-5", "NaN"]);
    platform.advance(10);
    expect(rung).toEqual(["-Infinity", "-5", "NaN", "10"]);
    expect(alarms.size).toBe(1);
  });

  it("are none any more once they are stopped, whoever asks for one later", () => {
    const { platform, alarms, rung } = start();
    alarms.later(10, () => void rung.push("before"));
    alarms.stop();
    alarms.later(10, () => void rung.push("after"))();
    alarms.later(10, () => void rung.push("after"));
    expect(platform.timers).toBe(0);
    platform.advance(10);
    expect(rung).toEqual([]);
  });

  it("ring behind one that throws", () => {
    const { platform, alarms, rung } = start();
    alarms.later(5, () => {
      throw new Error("broken");
    });
    alarms.later(5, () => rung.push("beside"));
    alarms.later(10, () => rung.push("later"));
    expect(() => platform.advance(5)).toThrow("broken");
    platform.advance(5);
    expect(rung).toEqual(["beside", "later"]);
  });

  it("may be set and called off by one that rings", () => {
    const { platform, alarms, rung } = start();
    const second = alarms.later(10, () => rung.push("never"));
    alarms.later(10, () => rung.push("beside"));
    alarms.later(5, () => {
      second();
      alarms.later(5, () => rung.push("set"));
    });
    platform.advance(5);
    platform.advance(5);
    expect(rung.toSorted()).toEqual(["beside", "set"]);
  });

  it("ring no more once they are stopped", () => {
    const { platform, alarms, rung } = start();
    const callOff = alarms.later(10, () => rung.push("never"));
    alarms.stop();
    callOff();
    platform.advance(10);
    expect([rung, platform.timers]).toEqual([[], 0]);
  });
});

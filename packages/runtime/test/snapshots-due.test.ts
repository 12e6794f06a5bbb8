/** When a snapshot of a scope is due, and what one that is not taken changes. */
import { initial } from "@pawl/sansio-core";
import { describe, expect, it } from "vitest";
import { memoryJournal } from "../src/index.ts";
import type { AppendResult } from "../src/journal/journal.ts";
import type { ScopeStore } from "../src/scope/scope-store.ts";
import { Snapshots, type Taken } from "../src/scope/snapshots.ts";
import { storeOf } from "./parts.ts";
import { TestPlatform } from "./world.ts";

const state = initial("session:s");

const begin = (snapshot?: Taken) => {
  const platform = new TestPlatform();
  const keeping: PromiseWithResolvers<AppendResult>[] = [];
  const told: string[] = [];
  const store: ScopeStore = {
    ...storeOf(platform, memoryJournal(), { snapshotAfter: 10 }),
    opened: { snapshot, since: 0 },
    snapshot: () => {
      const one = Promise.withResolvers<AppendResult>();
      keeping.push(one);
      return one.promise;
    },
    retain: () => Promise.reject(new Error("nothing is retained")),
    begun: () => Promise.reject(new Error("nothing is shortened")),
    readLines: () => Promise.reject(new Error("nothing is shortened")),
    fault: (what) => told.push(what),
  };
  const snapshots = new Snapshots(store, platform, () => told.push("taken"));
  const pass = async (): Promise<void> => {
    platform.advance(20);
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { platform, keeping, told, snapshots, pass };
};

describe("a snapshot", () => {
  it("is due when the events since the last outweigh it", async () => {
    const { snapshots, keeping, pass } = begin({ seq: 1, at: 0, size: 100 });
    snapshots.note(state, 99);
    expect(snapshots.isEmpty).toBe(true);
    snapshots.note(state, 1);
    expect(snapshots.isEmpty).toBe(false);
    await pass();
    expect(keeping).toHaveLength(1);
  });

  it("is taken one at a time, and keeps its scope in memory meanwhile", async () => {
    const { platform, snapshots, keeping, told, pass } = begin();
    snapshots.note(state, 10);
    snapshots.note(state, 10);
    expect(platform.timers).toBe(1);
    await pass();
    snapshots.note(state, 10_000);
    expect([keeping.length, platform.timers, snapshots.isEmpty]).toEqual([1, 0, false]);
    keeping[0]?.resolve({ type: "ok" });
    await pass();
    expect([told, snapshots.isEmpty]).toEqual([["taken"], true]);
    snapshots.note(state, 0);
    expect(snapshots.isEmpty).toBe(false);
  });

  it("that was not taken is no weight against the next", async () => {
    const { snapshots, keeping, told, pass } = begin();
    snapshots.note(state, 10);
    await pass();
    keeping[0]?.resolve({ type: "full" });
    await pass();
    expect(told).toEqual(["a snapshot was not taken: full", "taken"]);
    snapshots.note(state, 10);
    await pass();
    expect(keeping).toHaveLength(2);
  });

  it("is not taken any more of a scope that has left memory, or was lost", async () => {
    const { platform, snapshots, keeping, pass } = begin();
    snapshots.note(state, 10);
    snapshots.stop();
    expect(platform.timers).toBe(0);
    await pass();
    expect(keeping).toEqual([]);
  });
});

it("shortens the logs of sessions, and of no process: what it is asked for later stands in its log", () => {
  const platform = new TestPlatform();
  const retention = { olderThanMs: 1000 };
  const of = (scope: string) => storeOf(platform, memoryJournal(), { retention }, scope).retention;
  expect([of("session:s"), of("process:p")]).toEqual([retention, undefined]);
});

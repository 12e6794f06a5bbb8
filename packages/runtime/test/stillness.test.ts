/** A body that stands still until code is loaded. */
import { describe, expect, it } from "vitest";
import { Stillness } from "../src/stillness.ts";

const still = () => {
  const told: unknown[] = [];
  const stillness = new Stillness({ stir: () => told.push("goes on"), fail: (thrown) => told.push(thrown) });
  return { stillness, told };
};

describe("a body", () => {
  it("that does not stand still does at once what its program does", () => {
    const { stillness, told } = still();
    stillness.inOrder(() => told.push("asked"));
    expect(told).toEqual(["asked"]);
    expect(stillness.isStill).toBe(false);
  });

  it("that stands still does afterwards what its program did, in its order, and then hears again", async () => {
    const { stillness, told } = still();
    const ready = Promise.withResolvers<void>();
    stillness.begin(ready.promise);
    stillness.inOrder(() => told.push("first"));
    stillness.begin(Promise.reject(new Error("another")).catch(() => undefined));
    stillness.inOrder(() => told.push("second"));
    expect([stillness.isStill, told]).toEqual([true, []]);
    ready.resolve();
    await stillness.until;
    expect([stillness.isStill, told]).toEqual([false, ["first", "second", "goes on"]]);
  });

  it("never goes on where what it stands still for does not come: whoever has it is told", async () => {
    const { stillness, told } = still();
    stillness.begin(Promise.reject(new Error("no network")));
    stillness.inOrder(() => told.push("asked"));
    await stillness.until;
    expect([stillness.isStill, told]).toEqual([true, [new Error("no network")]]);
  });
});

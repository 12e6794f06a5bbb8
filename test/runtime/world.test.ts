/** A seed gives the same bytes in Node and in Chromium: simulated worlds, orders that are tried, and the core simulation. */
import { describe, expect, it } from "vitest";
import { inChromium } from "./in-chromium.ts";
import { coreSimsOf, worldsOf } from "./world.ts";

const seeds = 12;

describe("seeds in Node", () => {
  it("come to the same bytes when they are run again, and to others under other seeds", async () => {
    const [once, again] = [await worldsOf(3), await worldsOf(3)];
    expect(again).toEqual(once);
    expect(once.join("")).not.toContain('"failed":"');
    expect(new Set(coreSimsOf(2)).size).toBe(6);
  });
});

inChromium("seeds in Chromium", "test/runtime/world.ts", (at) => {
  it("come to the bytes that they come to in Node", async () => {
    const page = await at.browser.newPage();
    await page.addScriptTag({ content: at.code });
    expect(await page.evaluate(`suite.worldsOf(${seeds})`)).toEqual(await worldsOf(seeds));
    expect(await page.evaluate(`suite.coreSimsOf(${seeds})`)).toEqual(coreSimsOf(seeds));
  });
});

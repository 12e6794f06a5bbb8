/** A seed gives the same bytes in Node and in Chromium: simulated worlds, orders that are tried, and the standard mix. */
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bundleOf } from "./bundle.ts";
import { hasChromium, openChromium, withoutChromium } from "./chromium.ts";
import { mixesOf, worldsOf } from "./world.ts";

const seeds = 12;

describe("seeds in Node", () => {
  it("come to the same bytes when they are run again, and to others under other seeds", async () => {
    const [once, again] = [await worldsOf(3), await worldsOf(3)];
    expect(again).toEqual(once);
    expect(once.join("")).not.toContain('"failed":"');
    expect(new Set(mixesOf(2)).size).toBe(6);
  });
});

describe.skipIf(!hasChromium)(hasChromium ? "seeds in Chromium" : withoutChromium, () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await openChromium();
  });
  afterAll(() => browser.close());

  it("come to the bytes that they come to in Node", async () => {
    const page = await browser.newPage();
    await page.addScriptTag({ content: await bundleOf("test/runtime/world.ts") });
    expect(await page.evaluate(`pawl.worldsOf(${seeds})`)).toEqual(await worldsOf(seeds));
    expect(await page.evaluate(`pawl.mixesOf(${seeds})`)).toEqual(mixesOf(seeds));
  });
});

/** Tabs over one journal, in a real browser: one writes, the others watch, and one of them goes on after it. */
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { hasChromium, openChromium, withoutChromium } from "../../../test/runtime/chromium.ts";
import { pageWith, scriptOf } from "./rig.ts";
import type { Change, Log } from "./seen.ts";

const count = (lines: readonly string[], type: string): number =>
  lines.filter((line) => line.includes(`"type":"${type}"`)).length;

const isWriting = (page: Page) => page.waitForFunction(`suite.isWriting()`);
const changesOf = async (page: Page) => (await page.evaluate(`suite.changes`)) as readonly Change[];
const logOf = async (page: Page) => (await page.evaluate(`suite.log()`)) as Log;

/** The call that was under way is over, and everything of it was done and seen once. */
const goneOn = async (second: Page, steps: number): Promise<Log> => {
  const outcome = { status: "success", payload: Array.from({ length: steps }, () => expect.any(Number)) };
  expect(await second.evaluate(`suite.replies("r")`)).toEqual(outcome);
  const log = await logOf(second);
  expect(log.check).toBe("whole");
  expect(count(log.lines, "step.settled")).toBe(steps);
  await second.waitForFunction(`suite.seen.length === ${log.seqs.length}`);
  expect(await second.evaluate(`suite.seen`)).toEqual(log.seqs);
  expect(log.seqs).toEqual(log.seqs.map((_, i) => i + 1));
  expect(await second.evaluate(`suite.faults`)).toEqual([]);
  return log;
};

describe.skipIf(!hasChromium)(hasChromium ? "tabs over one journal" : withoutChromium, () => {
  let browser: Browser;
  let context: BrowserContext;
  let code = "";
  beforeAll(async () => {
    [browser, code] = await Promise.all([openChromium(), scriptOf("tab")]);
  });
  afterAll(() => browser.close());
  beforeEach(async () => {
    context = await browser.newContext();
  });
  afterEach(() => context.close());

  const tab = async (beatMs = 1000): Promise<Page> => {
    const page = await pageWith(context, code);
    await page.evaluate(`suite.open("agent", ${beatMs})`);
    return page;
  };
  /** A page that writes, in the midst of a call, and one that watches. */
  const twoTabs = async (steps: number, ms: number, beatMs = 1000): Promise<readonly [Page, Page]> => {
    const first = await tab(beatMs);
    await isWriting(first);
    const second = await tab(beatMs);
    void second.evaluate(`void suite.watch()`);
    void first.evaluate(`void suite.call("r", ${steps}, ${ms})`);
    await second.waitForFunction(`suite.types.filter((type) => type === "step.settled").length >= 2`);
    return [first, second];
  };
  it("lets the only one write, and another one watch all that it does", async () => {
    const [first, second] = await twoTabs(4, 20);
    expect(await second.evaluate(`suite.isWriting()`)).toBe(false);
    expect(await first.evaluate(`suite.replies("r")`)).toEqual({ status: "success", payload: [1, 1, 1, 1] });
    const { seqs } = await logOf(first);
    await second.waitForFunction(`suite.seen.length === ${seqs.length}`);
  });

  it("hands over when a tab leaves", async () => {
    const [first, second] = await twoTabs(5, 100);
    await first.evaluate(`suite.close()`);
    await isWriting(second);
    await goneOn(second, 5);
  });

  it("goes on within a second in another tab when the one that wrote is closed, and loses nothing", async () => {
    const [first, second] = await twoTabs(6, 100);
    const from = Date.now();
    await first.close({ runBeforeUnload: false });
    await isWriting(second);
    expect(((await changesOf(second))[0]?.at ?? Infinity) - from).toBeLessThan(1000);
    await goneOn(second, 6);
  });

  it("goes on within a second in another tab when the one that wrote crashes, and loses nothing", async () => {
    const [first, second] = await twoTabs(6, 100);
    const crashed = new Promise((resolve) => first.once("crash", resolve));
    const session = await context.newCDPSession(first);
    const from = Date.now();
    session.send("Page.crash").catch(() => undefined); // There is nobody left to answer.
    await crashed;
    await isWriting(second);
    expect(((await changesOf(second))[0]?.at ?? Infinity) - from).toBeLessThan(1000);
    await goneOn(second, 6);
  });
});

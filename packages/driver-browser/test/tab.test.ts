/** Tabs over one journal, in a real browser: one writes, the others watch, and one of them goes on after it. */
import type { BrowserContext, Page } from "playwright-core";
import { afterEach, beforeEach, expect, it } from "vitest";
import { inChromium } from "../../../test/runtime/in-chromium.ts";
import { origin, pageWith, scriptOf } from "../../../test/runtime/page.ts";
import { olderSource } from "../../../test/upgrade/older/source.ts";
import type { Change, Log } from "./seen.ts";

const count = (lines: readonly string[], type: string): number =>
  lines.filter((line) => line.includes(`"type":"${type}"`)).length;

const isWriting = (page: Page) => page.waitForFunction(`suite.isWriting()`);
const changesOf = async (page: Page) => (await page.evaluate(`suite.changes`)) as readonly Change[];
const logOf = async (page: Page) => (await page.evaluate(`suite.log()`)) as Log;

/** Its log has a line with this in it. */
const recorded = async (page: Page, text: string): Promise<void> => {
  while (!(await logOf(page)).lines.some((line) => line.includes(text)))
    await new Promise((resolve) => setTimeout(resolve, 20));
};

/** The call that was under way is over, and everything of it was done and seen once. */
const goneOn = async (second: Page, steps: number): Promise<Log> => {
  const outcome = { status: "success", payload: Array.from({ length: steps }, () => expect.any(Number)) };
  expect(await second.evaluate(`suite.replies("r")`)).toEqual(outcome);
  const log = await logOf(second);
  expect(log.check).toBe("whole");
  expect(count(log.lines, "step.settled")).toBe(steps);
  await second.waitForFunction(`suite.seen.length >= ${log.seqs.length}`);
  expect(await second.evaluate(`suite.seen.slice(0, ${log.seqs.length})`)).toEqual(log.seqs);
  expect(log.seqs).toEqual(log.seqs.map((_, i) => i + 1));
  expect(await second.evaluate(`suite.faults`)).toEqual([]);
  return log;
};

const refusal = (code: string) => ({ code, made: false });

/** A page that stands still, with all that is in it, until it is let go. */
const standStill = async (page: Page): Promise<() => void> => {
  const { promise: released, resolve: letGo } = Promise.withResolvers<void>();
  await page.route(`${origin}/stand-still`, (route) => released.then(() => route.fulfill({ body: "go on" })));
  await page.evaluate("suite.standStill()");
  return letGo;
};

inChromium("tabs over one journal", "packages/driver-browser/test/page/tab.ts", (at) => {
  let context: BrowserContext;
  beforeEach(async () => {
    context = await at.browser.newContext();
    context.setDefaultTimeout(150_000);
  });
  afterEach(() => context.close());

  /** Asks only who is told to: a tab that is slow, since the machine is, is taken for dead by nobody else. */
  const tab = async (beatMs = 3_600_000, name = "agent"): Promise<Page> => {
    const page = await pageWith(context, at.code);
    await page.evaluate(`suite.open("${name}", ${beatMs})`);
    return page;
  };
  /** A page that writes, in the midst of a call, and one that watches. */
  const twoTabs = async (steps: number, ms: number): Promise<readonly [Page, Page]> => {
    const first = await tab();
    await isWriting(first);
    const second = await tab();
    void second.evaluate(`void suite.watch()`);
    void first.evaluate(`void suite.call("r", ${steps}, ${ms})`);
    await second.waitForFunction(`suite.types.filter((type) => type === "step.settled").length >= 2`);
    return [first, second];
  };
  /** A second; on a machine where a page needs longer to begin on its own, as long as that takes. */
  const aSecond = async (): Promise<number> => {
    const from = Date.now();
    await isWriting(await tab(3_600_000, "another"));
    return Math.max(1000, Date.now() - from);
  };
  it("lets the only one write, and another one watch all that it does", async () => {
    const [first, second] = await twoTabs(4, 20);
    expect(await second.evaluate(`suite.isWriting()`)).toBe(false);
    expect(await first.evaluate(`suite.replies("r")`)).toEqual({ status: "success", payload: [1, 1, 1, 1] });
    const { seqs } = await logOf(first);
    await second.waitForFunction(`suite.seen.length >= ${seqs.length}`);
  });

  it("shows a stream in a tab that follows, live and late, and on in the next tab when the one that wrote crashes", async () => {
    const [first, second, third] = [await tab(), await tab(), await tab()];
    await isWriting(first);
    void first.evaluate(`void suite.say("r", 20, 60)`);
    await recorded(second, `"name":"words"`);
    await second.evaluate(`suite.beginReading("live", "r")`);
    await second.waitForFunction(`suite.reads.live.kept.length >= 5`);
    expect(await second.evaluate(`suite.reads.live.early`)).toBeGreaterThan(0);
    const crashed = new Promise((resolve) => first.once("crash", resolve));
    const session = await context.newCDPSession(first);
    session.send("Page.crash").catch(() => undefined); // There is nobody left to answer.
    await crashed;
    await Promise.race([isWriting(second), isWriting(third)]);
    await second.waitForFunction(`suite.reads.live.isOver`);
    const said = Array.from({ length: 20 }, (_, i) => `${i}/2 `);
    expect(await second.evaluate(`suite.reads.live.kept.filter(Boolean)`)).toEqual(said);
    expect(await second.evaluate(`suite.reads.live.resets`)).toBe(1);
    await third.evaluate(`suite.beginReading("late", "r")`);
    await third.waitForFunction(`suite.reads.late.isOver`);
    const late = (await third.evaluate(`suite.reads.late.kept.filter(Boolean)`)) as readonly string[];
    expect(late.slice(-20)).toEqual(said);
  });

  it("hands over when a tab leaves", async () => {
    const [first, second] = await twoTabs(5, 100);
    await first.evaluate(`suite.close()`);
    await isWriting(second);
    await goneOn(second, 5);
  });

  it(
    "goes on within a second in another tab when the one that wrote is closed, and loses nothing",
    { retry: 2 },
    async () => {
      const [first, second] = await twoTabs(6, 100);
      const from = Date.now();
      await first.close({ runBeforeUnload: false });
      await isWriting(second);
      expect(((await changesOf(second))[0]?.at ?? Infinity) - from).toBeLessThan(await aSecond());
      await goneOn(second, 6);
    },
  );

  it(
    "goes on within a second in another tab when the one that wrote crashes, and loses nothing",
    { retry: 2 },
    async () => {
      const [first, second] = await twoTabs(6, 100);
      const crashed = new Promise((resolve) => first.once("crash", resolve));
      const session = await context.newCDPSession(first);
      const from = Date.now();
      session.send("Page.crash").catch(() => undefined); // There is nobody left to answer.
      await crashed;
      await isWriting(second);
      expect(((await changesOf(second))[0]?.at ?? Infinity) - from).toBeLessThan(await aSecond());
      await goneOn(second, 6);
    },
  );

  it("goes on in another tab when the one that wrote hangs, and takes nothing from it when it wakes", async () => {
    const beatMs = 2000;
    const first = await tab();
    await isWriting(first);
    const letGo = await standStill(first);
    void first.evaluate(`void suite.call("r", 3, 1)`);
    const from = Date.now();
    const [second, third] = [await tab(beatMs), await tab(beatMs)];
    void second.evaluate(`void suite.watch()`);
    const next = await Promise.race([second, third].map(async (page) => [page, await isWriting(page)] as const));
    const taken = (await changesOf(next[0]))[0]?.at ?? 0;
    expect(taken - from).toBeGreaterThan(3 * beatMs);
    letGo();
    await first.waitForFunction(`suite.changes.length >= 2 && !suite.isWriting()`);
    expect((await changesOf(first)).map((change) => change.isWriting)).toEqual([true, false]);
    expect(await next[0].evaluate(`suite.replies("r")`)).toMatchObject({ status: "success", payload: { length: 3 } });
    const log = await logOf(second);
    expect([log.check, count(log.lines, "step.settled"), count(log.lines, "scope.opened")]).toEqual(["whole", 3, 2]);
    await second.waitForFunction(`suite.seen.length >= ${log.seqs.length}`);
    expect(await second.evaluate(`suite.seen.slice(0, ${log.seqs.length})`)).toEqual(log.seqs);
  });

  it("lets a tab that was taken for dead write again when it is its turn", async () => {
    const first = await tab();
    await isWriting(first);
    const letGo = await standStill(first);
    void first.evaluate(`void suite.call("r", 1, 1)`);
    const second = await tab(100);
    await isWriting(second);
    letGo();
    await first.waitForFunction(`suite.changes.length === 2`);
    expect(await second.evaluate(`suite.call("meanwhile", 1, 1)`)).toMatchObject({ status: "success" });
    await second.close();
    await isWriting(first);
    expect(await first.evaluate(`suite.call("again", 2, 1)`)).toMatchObject({ status: "success" });
    expect((await logOf(first)).check).toBe("whole");
  });

  it("honours a deadline that passed while the machine was asleep, within seconds of its waking", async () => {
    const page = await tab();
    const napping = page.evaluate(`suite.takeNap("r", 3_600_000)`);
    await recorded(page, `"kind":"sleep"`);
    await page.evaluate(`suite.sleep(3_600_000)`);
    const { outcome, took } = (await napping) as { readonly outcome: unknown; readonly took: number };
    expect(outcome).toEqual({ status: "success", payload: "awake" });
    expect(took).toBeLessThan(60_000);
  });

  it("honours deadlines at the wake-ups of a tab in the background, once a minute, and is not taken for dead", async () => {
    const [first, second] = [await tab(), await tab(1000)];
    await first.evaluate("suite.throttle()");
    for (const [request, seconds] of [
      ["a", 20],
      ["b", 70],
      ["c", 150],
    ])
      await first.evaluate(`suite.begin("${request}", ${Number(seconds) * 1000})`);
    while ((await logOf(first)).lines.filter((line) => line.includes(`"kind":"sleep"`)).length < 3);
    for (const awake of [["a"], ["a", "b"], ["a", "b", "c"]]) {
      await first.evaluate("wakeUp()");
      await expect.poll(() => first.evaluate("suite.awake")).toEqual(awake);
      await first.evaluate(`suite.call("${awake.length}", 0, 0)`); // It goes on as ever in between.
      expect(await first.evaluate("suite.awake")).toEqual(awake);
    }
    await second.waitForFunction("suite.beats.length >= 5");
    expect(await changesOf(second)).toEqual([]);
    expect((await changesOf(first)).map((change) => change.isWriting)).toEqual([true]);
  });

  it("honours a deadline that passed while its page was frozen, when it is shown again", async () => {
    const page = await tab();
    const session = await context.newCDPSession(page);
    const napping = page.evaluate(`suite.takeNap("r", 500)`);
    await recorded(page, `"kind":"sleep"`);
    await session.send("Page.setWebLifecycleState", { state: "frozen" });
    await new Promise((resolve) => setTimeout(resolve, 1500));
    await session.send("Page.setWebLifecycleState", { state: "active" });
    const { outcome } = (await napping) as { readonly outcome: unknown };
    expect(outcome).toEqual({ status: "success", payload: "awake" });
  });

  it("refuses tools and options that no runtime is made of, before anything is opened", async () => {
    const page = await pageWith(context, at.code);
    expect(await page.evaluate(`suite.refusedTwice("twice")`)).toEqual(refusal("tool_conflict"));
    expect(await page.evaluate(`suite.refused("no list", { tools: "nap" })`)).toEqual(refusal("invalid_tool"));
    const options = `{ options: { maxRunAttempts: "many" } }`;
    expect(await page.evaluate(`suite.refused("option", ${options})`)).toEqual(refusal("invalid_option"));
    const linger = `{ linger: { restMs: -1 } }`;
    expect(await page.evaluate(`suite.refused("linger", ${linger})`)).toEqual(refusal("invalid_option"));
    for (const beatMs of ["NaN", "0", "-1", "Infinity", '"soon"', "2 ** 31"])
      expect(await page.evaluate(`suite.refused("beat", { beatMs: ${beatMs} })`)).toEqual(refusal("invalid_option"));
    expect(await page.evaluate(`suite.refused("good", {})`)).toEqual({ code: "opened", made: true });
  });

  it("shows errors that no model is shown on the console, unless the page has a log of its own", async () => {
    const page = await pageWith(context, at.code);
    const shown: string[] = [];
    page.on("console", (message) => void (message.type() === "error" && shown.push(message.text())));
    const told = "tool.internal_error: TypeError: what nobody is shown";
    expect(await page.evaluate(`suite.throwing("logged", true)`)).toEqual([told]);
    expect(shown).toEqual([]);
    expect(await page.evaluate(`suite.throwing("shown", false)`)).toEqual([]);
    expect(shown).toEqual([expect.stringMatching(/^pawl: tool.internal_error .*TypeError: what nobody is shown/)]);
  });

  it("follows scopes, by their whole names", async () => {
    const page = await tab();
    const refused = `Refused: a scope is session:{id} or process:{id}, found`;
    expect(await page.evaluate(`suite.followed("s")`)).toBe(`${refused} "s"`);
    expect(await page.evaluate(`suite.followed("session:")`)).toBe(`${refused} "session:"`);
    await page.evaluate(`suite.call("r", 0, 0)`);
    expect(await page.evaluate(`suite.followed("session:s")`)).toBe("an event");
  });

  it("refuses a session of a newer release before it claims it, and says what to load; the newer page goes on", async () => {
    const first = await tab();
    await isWriting(first);
    const older = await pageWith(context, await scriptOf("packages/driver-browser/test/page/tab.ts", olderSource));
    await older.evaluate(`suite.open("agent", 3_600_000)`);
    void first.evaluate(`void suite.call("r", 4, 100)`);
    await recorded(first, `"type":"step.settled"`);
    await first.close({ runBeforeUnload: false });
    await isWriting(older);
    const wanted =
      "scope session:s is of protocol 2, and this pawl knows protocols up to 1: install the release of pawl that brought " +
      "protocol 2, or a later one, and open it with that. Nothing was claimed or changed";
    const { lines } = await logOf(older).catch(() => ({ lines: [] }));
    expect(lines).toEqual([]); // Its core cannot read the log either.
    const refused = `suite.call("other", 1, 1).then(String, ({ code, message }) => [code, message])`;
    expect(await older.evaluate(refused)).toEqual(["newer_protocol", wanted]);
    const told = (what: string) => `session:s was not taken ${what}: Refused: ${wanted}`;
    const faults = async (): Promise<unknown> => new Set(await older.evaluate<readonly string[]>(`suite.faults`));
    await expect.poll(faults, { timeout: 20_000 }).toEqual(new Set([told("over"), told("up")]));
    await older.close();
    const newer = await tab();
    await isWriting(newer);
    void newer.evaluate(`void suite.watch()`);
    await goneOn(newer, 4);
    const opened = (await logOf(newer)).lines.filter((line) => line.includes(`"type":"scope.opened"`));
    expect(opened.map((line) => (JSON.parse(line) as { readonly epoch: number }).epoch)).toEqual([1, 2]);
  });

  it("has nothing to complain of when it is closed as soon as it may write, again and again", async () => {
    const page = await pageWith(context, at.code);
    for (let i = 0; i < 3; i++) expect(await page.evaluate(`suite.openBriefly("brief")`)).toEqual([]);
  });
});

/** Every scene of the demo in Chromium, as it is served: without console errors, and accessible. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { importLog, memoryJournal } from "@pawl/runtime";
import { namesIn } from "@pawl/runtime/driver";
import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { violationsIn } from "../../../test/runtime/axe.ts";
import { hasChromium, openChromium, withoutChromium } from "../../../test/runtime/chromium.ts";
import { motionsIn, watchMotion } from "../../../test/runtime/motion.ts";
import { takePicture } from "../../../test/runtime/picture.ts";
import { buildPage } from "../src/host/bundle.ts";
import { type Demo, openDemo } from "../src/host/demo.ts";
import { openFakeEndpoint } from "./fake-endpoint.ts";
import { type Visit, pressDuring, visits } from "./visit.ts";

const patience = 300_000;
const waiting = { timeout: 60_000 };
const visit = (id: string): Visit => visits.find((one) => one.id === id) as Visit;

describe.skipIf(!hasChromium)(hasChromium ? "the demo" : withoutChromium, { timeout: patience }, () => {
  const folder = mkdtempSync(join(tmpdir(), "pawl-demo-"));
  let browser: Browser;
  let demo: Demo;
  let page: Page;
  let complaints: string[] = [];
  beforeAll(async () => {
    const built = join(folder, "page");
    [browser] = await Promise.all([openChromium(), buildPage(built)]);
    demo = await openDemo({ page: built, folder });
  }, patience);
  afterAll(async () => {
    await browser.close();
    await demo.close();
    rmSync(folder, { recursive: true });
  });
  afterEach(async () => {
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  const openIn = async (context: BrowserContext, scene: string): Promise<Page> => {
    const opened = await context.newPage();
    opened.on("console", (message) => {
      if (message.type() === "error") complaints.push(message.text());
    });
    opened.on("pageerror", (error) => complaints.push(error.stack ?? error.message));
    await opened.goto(`${demo.url}/#${scene}`);
    await opened.locator("h1").waitFor();
    return opened;
  };

  const open = async (scene: string, options: BrowserContextOptions = {}): Promise<void> => {
    complaints = [];
    const context = await browser.newContext(options);
    await watchMotion(context);
    page = await openIn(context, scene);
  };

  const press = (name: string, on = page): Promise<void> =>
    on.getByRole("button", { name, exact: true }).first().click(waiting);
  const isFine = (on = page): Promise<void> => on.locator("p.trouble").waitFor({ state: "hidden" });

  /** Goes through a scene, and checks accessibility at its places. Returns the animations. */
  const goThrough = async (id: string): Promise<readonly string[]> => {
    await open(id);
    await visit(id).go(page, async (place) => {
      await takePicture(page, `${id}-${place}`);
      expect(await violationsIn(page)).toEqual([]);
    });
    await isFine();
    expect(await page.evaluate("document.documentElement.scrollHeight - innerHeight")).toBeLessThanOrEqual(0);
    return motionsIn(page);
  };

  it("goes on in mid-word after a kill, asks before it pays and before it goes over its budget, and swaps an answer", async () => {
    await goThrough("turn");
    expect(await page.locator(".talk .answer").allInnerTexts()).toHaveLength(3);
    expect(await page.locator(".talk .answer del").count()).toBe(0);
    const said = await page.locator(".talk .answer").allInnerTexts();
    await page.reload();
    await expect.poll(() => page.locator(".talk .answer").allInnerTexts(), waiting).toEqual(said);
    expect(said[0]).toContain("Twelve people want a long table");
    expect(said[0]?.split("Twelve people").length).toBe(2);
  });

  it("survives a kill: effects happen once, a step that runs at most once is not repeated, and a reload shows the same", async () => {
    expect(await goThrough("kill")).not.toEqual([]);
    const rowOf = (effect: string): Promise<readonly string[]> =>
      page.getByRole("row", { name: effect }).getByRole("cell").allInnerTexts();
    // Timing decides whether the mails went out before the worker died. They are never requested again.
    await expect.poll(async () => (await rowOf("send the mails"))[0], waiting).toBe("1×");
    const happened = await page.locator(".counts .happened").allInnerTexts();
    expect(happened.filter((times) => !["0×", "1×"].includes(times))).toEqual([]);
    await page.locator(".verdict", { hasText: "A crash, and nothing happened twice." }).waitFor(waiting);
    const known = await rowOf("send the mails");
    await page.reload();
    await page.locator(".said.agent", { hasText: "Three seats and two nights are booked" }).waitFor(waiting);
    await expect.poll(() => rowOf("send the mails"), waiting).toEqual(known);
  });

  it("takes decisions in any order, with edited arguments, across a reload", async () => {
    await goThrough("ask");
  });

  it("saves a log with its large values: the file can be imported", async () => {
    await open("ask");
    await press("Run the agent");
    const card = page.locator('.decision[data-tool="post"]');
    await card.getByLabel("text").fill("x".repeat(70_000), waiting);
    await card.getByRole("button", { name: "Approve with changes" }).click();
    await card.locator(".verdict", { hasText: "Done, with your changes" }).waitFor(waiting);
    const saving = page.waitForEvent("download");
    await press("Save");
    const file = readFileSync(await (await saving).path(), "utf8");
    const journal = memoryJournal();
    const { scope } = await importLog(journal, "import", [file]);
    const [large] = namesIn(file);
    expect((await journal.blobs?.read(scope.id, large ?? ""))?.length).toBeGreaterThan(70_000);
    await isFine();
  });

  it("continues background runs after a kill, cancels one, and delivers a reminder", async () => {
    await goThrough("long");
    await page.reload(); // The reminder is recorded.
    await page.locator(".told li", { hasText: "Look at what the archives say" }).waitFor(waiting);
  });

  it("explores the scene's tool, and shows the log of any crash", async () => {
    expect(await goThrough("order")).not.toEqual([]);
  });

  it("locks the choice of the tool during an exploration", async () => {
    await open("order");
    const isLocked = await page.evaluate(`(() => {
      document.querySelector("button.primary").click();
      return document.querySelector("fieldset").disabled && document.querySelector("button.primary").disabled;
    })()`);
    expect(isLocked).toBe(true);
    await page.locator(".verdict.safe").waitFor(waiting);
    await page.getByLabel("Forgets the key").check(waiting);
  });

  it("survives repeated kills, and leaving the page in between", async () => {
    await open("kill");
    await press("Run the agent");
    for (let n = 1; n <= 2; n++) {
      await page.locator(".worker.alive", { hasText: `Worker ${n} is alive` }).waitFor(waiting);
      await pressDuring(page, ".tooth.doing", "Kill the worker");
    }
    await page.goto(`${demo.url}/#ask`);
    await press("Run the agent");
    await page.locator(".decision.asks").first().waitFor(waiting);
    await page.goBack();
    await page.locator(".said.agent", { hasText: "Three seats and two nights are booked" }).waitFor(waiting);
    const happened = await page.locator(".counts .happened").allInnerTexts();
    expect(happened.filter((times) => !["0×", "1×"].includes(times))).toEqual([]);
    await page.goForward();
    await page.locator(".decision.asks").first().waitFor(waiting);
    await isFine();
  });

  it("only watches in a second tab, until the first is closed", async () => {
    await open("kill");
    const second = await openIn(page.context(), "kill");
    await second.locator(".watching").waitFor(waiting);
    expect(await second.locator(".stage").getAttribute("inert")).toBe("");
    await press("Run the agent");
    await second.locator(".tooth.doing").first().waitFor(waiting);
    await page.close();
    await second.locator(".watching").waitFor({ state: "hidden", ...waiting });
    await second.locator(".said.agent", { hasText: "Three seats and two nights are booked" }).waitFor(waiting);
    await isFine(second);
  });

  it("shows a session that another tab moves to the host and back, also after the scene was left in between", async () => {
    await open("move");
    const second = await openIn(page.context(), "move");
    await press("Start walking");
    await pressDuring(page, ".tooth.doing", "Move it to the host");
    for (const one of [page, second]) await one.locator(".road.host").waitFor(waiting);
    await page.getByRole("link", { name: "Long work" }).click(waiting);
    await page.locator(".worker.alive").waitFor(waiting);
    await isFine();
    await page.goBack();
    await page.locator(".road.host").waitFor(waiting);
    await second.locator(".watching").waitFor({ state: "hidden", ...waiting });
    await press("Bring it back", second);
    for (const one of [page, second]) await one.locator(".road.tab").waitFor(waiting);
    for (const one of [page, second]) await isFine(one);
  });

  it("uses the model of the user's own endpoint, and reports an answer of another form", async () => {
    const mail = { id: "m", name: "send_invitations", args: '{"to":["ada"]}' };
    const endpoint = await openFakeEndpoint([
      { type: "stream", text: "Only the invitation, then.", calls: [mail] },
      { type: "plain", text: "Ada has her invitation, says the endpoint." },
      { type: "error", status: 200, text: "no completion" },
    ]);
    await open("kill");
    await press("Model");
    await page.getByLabel("Endpoint").fill("no address");
    await press("Use the endpoint");
    await page.locator("dialog[open] input:invalid").first().waitFor();
    await page.getByLabel("Endpoint").fill(endpoint.url);
    await page.getByRole("textbox", { name: "Model" }).fill("small");
    expect(await violationsIn(page)).toEqual([]);
    await press("Use the endpoint");
    await press("Run the agent");
    await page.locator(".said.agent", { hasText: "Ada has her invitation, says the endpoint" }).waitFor(waiting);
    expect(endpoint.asked[1]?.body.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool"]);
    await press("Start over");
    await press("Run the agent");
    await page
      .locator("p.trouble", { hasText: "the answer of the model's endpoint has another form" })
      .waitFor(waiting);
    await endpoint.close();
  });

  it("carries a session to the host and back", async () => {
    expect(await goThrough("move")).not.toEqual([]);
  });

  it.each(["kill", "move", "order"])("animates nothing in %s if the user wants reduced motion", async (id) => {
    await open(id, { reducedMotion: "reduce" });
    await visit(id).go(page, async () => undefined);
    expect(await motionsIn(page)).toEqual([]);
  });

  it("fits screens of any width, also dark and without motion", async () => {
    for (const { id } of visits) {
      await open(id, { colorScheme: "dark", reducedMotion: "reduce" });
      for (const width of [1440, 820, 390]) {
        await page.setViewportSize({ width, height: 900 });
        expect(await page.evaluate("document.documentElement.scrollWidth - innerWidth")).toBeLessThanOrEqual(0);
        await takePicture(page, `${id}-before-${width}`);
      }
      expect(await violationsIn(page)).toEqual([]);
      if (id !== visits.at(-1)?.id) await page.context().close();
    }
  });
});

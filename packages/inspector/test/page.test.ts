/** The inspector in Chromium, as a host embeds it: in a page with a strict policy, with a worker. */
import { readFileSync } from "node:fs";
import { Runtime, defineTool, importLog, logText, memoryJournal } from "@pawl/runtime";
import { namesIn } from "@pawl/runtime/driver";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { violationsIn } from "../../../test/runtime/axe.ts";
import { hasChromium, openChromium, withoutChromium } from "../../../test/runtime/chromium.ts";
import { motionsIn, watchMotion } from "../../../test/runtime/motion.ts";
import { takePicture } from "../../../test/runtime/picture.ts";
import { pathOf } from "../../../test/project.ts";
import { nodePlatform } from "../../driver-node/src/platform.ts";
import { largeLog } from "./large-log.ts";
import { longLog } from "./log.ts";
import { copeWith, quantile } from "./long-log.ts";
import { type Bundle, bundle, openPage } from "./host-page.ts";

const golden = (name: string): string => readFileSync(pathOf(`packages/sansio-core/test/golden/${name}.jsonl`), "utf8");

/** Returns the log of a trip; the page has its tool too. */
const tripLog = async (asked: { readonly [name: string]: string } = { to: "Lviv" }): Promise<string> => {
  const trip = defineTool({
    name: "trip",
    durable: true,
    execute: async (args, ctx) => {
      const seat = await ctx.run("reserve", () => "12A");
      return ((input) => ctx.run("charge", () => ({ charged: input }), { input }))({ seat, ...(args as object) });
    },
  });
  const journal = memoryJournal();
  const roots = { newest: { kid: "k", secret: new Uint8Array(32) } };
  const runtime = new Runtime({ journal, platform: nodePlatform, tools: [trip], instance: "node", roots });
  const session = await runtime.session("trip");
  await session.request("r", [{ label: "c", tool: "trip", args: asked }]);
  await runtime.close();
  return ((await logText(journal, "session:trip")) ?? []).join("");
};

/** Sets the inspector's height and presses a key on its list at the same time. */
const setHeight = (page: Page, height: number, press = ""): Promise<unknown> =>
  page.evaluate(`new Promise((resolve) => {
    const inspector = document.querySelector("pawl-inspector");
    inspector.style.height = "${height}px";
    inspector.shadowRoot.querySelector(".events")
      .dispatchEvent(new KeyboardEvent("keydown", { key: "${press}", bubbles: true, composed: true }));
    setTimeout(resolve, 100);
  })`);

/** Forks at the first event that a search finds, with an edit, and continues; returns the event. */
const forkAt = async (page: Page, search: string, from: string, to: string): Promise<number> => {
  const seq = await page.evaluate<number>(`inspect.lines("${search}").then(([first]) => first)`);
  await page.evaluate(`inspect.inspector.goTo(${seq})`);
  await page.getByRole("tab", { name: "Fork" }).click();
  const event = page.getByLabel("The event, to be edited");
  await expect.poll(() => event.inputValue()).toContain(from);
  await event.fill((await event.inputValue()).replace(from, to));
  await page.getByRole("button", { name: "Continue with the tools" }).click();
  return seq;
};

const bottomOf = (box: { readonly y: number; readonly height: number } | null): number =>
  box === null ? NaN : box.y + box.height;

describe.skipIf(!hasChromium)(hasChromium ? "the inspector" : withoutChromium, () => {
  let browser: Browser;
  let code: Bundle;
  let page: Page;
  let complaints: string[] = [];
  beforeAll(async () => {
    [browser, code] = await Promise.all([openChromium(), bundle()]);
  });
  afterAll(() => browser.close());
  afterEach(async () => {
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  const show = async (text: string, options: BrowserContextOptions = {}): Promise<void> => {
    complaints = [];
    page = await openPage(await browser.newContext(options), code, complaints);
    await page.evaluate(`inspect.open("a log", ${JSON.stringify(text)})`);
    await page.locator(".event-head").waitFor();
  };
  const place = (): Promise<string> => page.locator(".place").innerText();
  const reaches = (words: string): Promise<void> =>
    page.locator(".place", { hasText: new RegExp(`^${words}$`) }).waitFor();

  it("opens a log, and moves through it by keys alone", async () => {
    await show(golden("owner-lost"));
    expect(await place()).toBe("15 / 15");
    await page.locator(".events").focus();
    await page.keyboard.press("Home");
    await reaches("1 / 15");
    await page.keyboard.press("ArrowRight");
    await reaches("2 / 15");
    await page.keyboard.press("c");
    await reaches("8 / 15");
    await page.locator(".event-head", { hasText: "scope.opened" }).waitFor();
    await page.keyboard.press("Shift+ArrowLeft");
    await reaches("1 / 15");
    await page.keyboard.press("End");
    await reaches("15 / 15");
    await page.keyboard.press("Space"); // It plays from the first event to the last.
    await page.getByRole("button", { name: "Pause" }).waitFor();
    await page.getByRole("button", { name: "Play" }).waitFor();
    await reaches("15 / 15");
    await page.keyboard.press("?");
    expect(await page.locator(".help").innerText()).toContain("next crash or fault");
  });

  it("lists the events in view, also if it moves and grows at the same time", async () => {
    await show(golden("owner-lost"));
    await setHeight(page, 450, "Home");
    await reaches("1 / 15");
    await setHeight(page, 2000, "End");
    await reaches("15 / 15");
    await setHeight(page, 700);
    const list = await page.locator(".events").boundingBox();
    const here = await page.locator(".event[aria-selected='true']").boundingBox();
    expect(bottomOf(here)).toBeCloseTo(bottomOf(list), 0);
  });

  it("shows the state, the open waits, and the line itself", async () => {
    await show(golden("owner-lost"));
    await page.evaluate("inspect.inspector.goTo(6)");
    await page.locator(".line", { hasText: '{"seq":6,' }).waitFor();
    expect(await page.locator(".commands").innerText()).toContain("Step “b” will run");
    await page.getByRole("tab", { name: "State" }).click();
    await page.locator("#pane-state summary", { hasText: "calls" }).waitFor();
    await page.getByRole("tab", { name: "Waiting" }).click();
    await page.locator("#pane-waiting", { hasText: "durable waits for its body, which d1 runs" }).waitFor();
  });

  it("searches lines, and filters by call", async () => {
    await show(golden("parallel-and-serial"));
    const all = await page.locator(".status").innerText();
    await page.locator(".events").focus();
    await page.keyboard.press("/");
    await page.keyboard.type("call.settled");
    await page.locator(".status", { hasText: " of " }).waitFor();
    const types = (): Promise<readonly string[]> => page.locator(".event .type").allInnerTexts();
    await expect.poll(async () => [...new Set(await types())], { timeout: 20_000 }).toEqual(["call.settled"]);
    await page.getByLabel("Search lines").fill("");
    await page.locator(".status", { hasText: all }).waitFor();
    await page.getByLabel("Only one call").selectOption({ index: 1 });
    await page.locator(".status", { hasText: " of " }).waitFor();
  });

  it("forks at the current event, continues with the tools, and marks the first difference", async () => {
    await show(await tripLog());
    const seq = await forkAt(page, "step.settled reserve", "12A", "99Z");
    await page.locator(".beside h3", { hasText: `the events differ from event ${seq} on` }).waitFor();
    await page.locator(".beside-event", { hasText: `event ${seq} · step.settled · ` }).waitFor();
    await expect
      .poll(() => page.evaluate("inspect.forkText()"), { timeout: 20_000 })
      .toContain('"charged":{"seat":"99Z","to":"Lviv"}');
    await page.getByRole("tab", { name: "Event", exact: true }).click();
    const both = page.locator("#pane-event .line");
    await expect
      .poll(() => both.allInnerTexts())
      .toEqual([expect.stringContaining("12A"), expect.stringContaining("99Z")]);
    await page.getByRole("tab", { name: "Fork" }).click();
    await page.getByRole("button", { name: "Continue as recorded" }).click();
    await page.locator(".said", { hasText: "The fork is shown below" }).waitFor();
    await page.getByRole("button", { name: "Leave the fork" }).click();
    await page.locator(".beside").waitFor({ state: "hidden" });
    await page.getByLabel("The event, to be edited").fill("{");
    await page.getByRole("button", { name: "Continue as recorded" }).click();
    await page.locator(".said", { hasText: "This is not JSON" }).waitFor();
  });

  it.each(["a log that contains", "a session that has"])("forks %s large values: the tools get them", async (kind) => {
    if (kind === "a log that contains") await show(await tripLog({ note: "n".repeat(70_000) }));
    else {
      complaints = [];
      page = await openPage(await browser.newContext(), code, complaints);
      await page.evaluate("inspect.live(70_000)");
      await page.locator(".event-head h2", { hasText: "reply.acked" }).waitFor();
    }
    await forkAt(page, "step.settled reserve", "12A", "99Z");
    const ended = '"outcome":{"status":"success"';
    await expect.poll(() => page.evaluate("inspect.forkText()"), { timeout: 20_000 }).toContain(ended);
  });

  it("names the tools that a fork lacks, where a fork stands still without them", async () => {
    await show(golden("owner-lost"));
    await page.evaluate("inspect.inspector.goTo(4)");
    await page.getByRole("tab", { name: "Fork" }).click();
    await page.getByRole("heading", { name: "Fork at event 4" }).waitFor();
    await page.getByRole("button", { name: "Continue with the tools" }).click();
    const said = page.getByRole("alert").filter({ hasText: "The fork stands still: this page lacks the tool" });
    await said.first().waitFor();
  });

  it("shows the arguments that a person is asked about", async () => {
    await show(golden("approvals"));
    await page.evaluate("inspect.inspector.goTo(9)");
    await page.getByRole("tab", { name: "Waiting" }).click();
    await page
      .getByText(/delete waits for a person's approval of \{/)
      .first()
      .waitFor();
  });

  it("shows nothing of the log before when a file is none, and says so", async () => {
    await show(golden("crash-loop"));
    await page.getByRole("tab", { name: "Fork" }).click();
    await page.getByRole("heading", { name: /^Fork at event/ }).waitFor();
    await page.evaluate(`void inspect.open("notes.txt", "no log")`);
    await page.getByText("This file is no log of pawl.").waitFor();
    expect(await page.getByLabel("The event, to be edited").inputValue()).toBe("");
    expect(await page.getByRole("button", { name: "Continue as recorded" }).isDisabled()).toBe(true);
    expect(await page.getByRole("button", { name: "Save" }).isDisabled()).toBe(true);
    expect(await page.getByRole("button", { name: "Next crash" }).isVisible()).toBe(false);
    expect(await page.getByRole("heading", { name: /^Fork at event/ }).count()).toBe(0);
  });

  it("keeps the words of its primary button readable under the mouse, and closes its help by Escape", async () => {
    await show(golden("crash-loop"));
    await page.getByRole("tab", { name: "Fork" }).click();
    const primary = page.getByRole("button", { name: "Continue with the tools" });
    const style = "(button) => getComputedStyle(button).color + ' on ' + getComputedStyle(button).backgroundColor";
    const colours = (): Promise<string> => primary.evaluate<string, undefined>(style, undefined);
    const before = await colours();
    await primary.hover();
    expect(await colours()).toBe(before);
    await page.keyboard.press("?");
    await page.getByText("previous, next event").waitFor();
    await page.keyboard.press("Escape");
    await page.getByText("previous, next event").waitFor({ state: "hidden" });
  });

  it("reports the large values that a fork lacks", async () => {
    const { bare } = await largeLog();
    await show(bare);
    await page.getByRole("tab", { name: "Fork" }).click();
    await page.getByRole("button", { name: "Continue with the tools" }).click();
    await page.locator(".said", { hasText: "but 2 large values are missing" }).waitFor();
  });

  it("forks with another argument, and runs the tools with it", async () => {
    await show(await tripLog());
    const seq = await forkAt(page, "request.submitted", "Lviv", "Kyiv");
    await page.locator(".beside h3", { hasText: `the events differ from event ${seq} on` }).waitFor();
    await expect
      .poll(() => page.evaluate("inspect.forkText()"), { timeout: 20_000 })
      .toContain('"charged":{"seat":"12A","to":"Kyiv"}');
    await page.getByRole("tab", { name: "Event", exact: true }).click();
    await page.evaluate("inspect.inspector.goTo(Infinity)");
    const ends = async (): Promise<readonly (number | undefined)[]> =>
      (await page.locator("#pane-event .line").allInnerTexts()).map(
        (line) => (JSON.parse(line) as { seq: number }).seq,
      );
    const forked = await page.evaluate<string>("inspect.forkText()");
    const [log, fork] = [await page.evaluate("inspect.inspector.place.last"), forked.trim().split("\n").length - 1];
    expect(fork).toBeGreaterThan(log as number);
    await expect.poll(ends).toEqual([log, fork]);
  });

  it("reports the fault of a log, and goes to it", async () => {
    await show(golden("owner-lost").replace(/("cmds":")..(.*"seq":8)/s, "$1ff$2"));
    await page.getByRole("alert").filter({ hasText: "diverged in line 2" }).waitFor();
    await page.getByRole("button", { name: "Next crash" }).click();
    await reaches("1 / 15");
    await page.locator(".event-head h2", { hasText: "scope.opened" }).waitFor();
  });

  it("follows a session of its own page as it grows", async () => {
    complaints = [];
    page = await openPage(await browser.newContext(), code, complaints);
    const save = page.getByRole("button", { name: "Save" });
    expect([await save.isDisabled(), await page.locator(".problem").isVisible()]).toEqual([true, false]);
    await page.evaluate("inspect.live()");
    await page.locator(".scope", { hasText: "session:live" }).waitFor();
    await page.locator(".event-head h2", { hasText: "reply.acked" }).waitFor();
    expect([await save.isDisabled(), await page.locator(".empty").isVisible()]).toEqual([false, false]);
  });

  const fileBy = async (button: string): Promise<string> => {
    const saving = page.waitForEvent("download");
    await page.getByRole("button", { name: button, exact: true }).click();
    return readFileSync(await (await saving).path(), "utf8");
  };

  it("saves a session of its own page with its large values: the file can be imported", async () => {
    complaints = [];
    page = await openPage(await browser.newContext(), code, complaints);
    await page.evaluate("inspect.live(70_000)");
    await page.locator(".event-head h2", { hasText: "reply.acked" }).waitFor();
    const file = await fileBy("Save");
    const journal = memoryJournal();
    await importLog(journal, "import", [file]);
    expect(((await logText(journal, "session:live")) ?? []).join("")).toBe(file);
    const names = [...new Set(namesIn(file))];
    expect(names).toHaveLength(3); // The arguments, the input of the charge, and its result.
    for (const name of names) expect((await journal.blobs?.read("session:live", name))?.length).toBeGreaterThan(70_000);
    await page.evaluate(`inspect.open("saved", ${JSON.stringify(file)})`);
    await page.locator(".scope", { hasText: "session:live" }).waitFor();
    expect(await fileBy("Save")).toBe(file);
  });

  it("reports missing values before it saves a session of a host, and saves it after confirmation", async () => {
    const { bare } = await largeLog();
    const lines = bare.trimEnd().split("\n").slice(1);
    complaints = [];
    page = await openPage(await browser.newContext({ reducedMotion: "reduce" }), code, complaints);
    await page.evaluate(`inspect.observed("session:large", ${JSON.stringify(lines)})`);
    await page.locator(".event-head").waitFor();
    const downloads: unknown[] = [];
    page.on("download", (download) => downloads.push(download));
    const save = page.getByRole("button", { name: "Save", exact: true });
    await save.click();
    const question = page.getByRole("alert").filter({ hasText: "2 large values are missing (events 3, 9)" });
    await question.waitFor();
    expect(await question.innerText()).toMatch(
      /not imported\. The source of this log does not give them out: export the log there/,
    );
    expect(await violationsIn(page)).toEqual([]);
    await takePicture(page, "inspector-save");
    const focused = (): Promise<unknown> => page.evaluate("inspect.inspector.shadowRoot.activeElement?.textContent");
    expect(await focused()).toBe("Do not save");
    await page.keyboard.press("Escape");
    await question.waitFor({ state: "detached" });
    expect([await focused(), downloads]).toEqual(["Save", []]);
    await save.click();
    const file = await fileBy("Save without them");
    expect(file).toBe(bare);
    const taken = importLog(memoryJournal(), "import", [file]);
    await expect(taken).rejects.toMatchObject({ code: "blob_missing" });
  });

  it("keeps showing why a host sends nothing more, until another log is opened", async () => {
    complaints = [];
    page = await openPage(await browser.newContext(), code, complaints);
    await page.evaluate(`inspect.observed("session:s", [], "the host is gone")`);
    const why = page.getByRole("alert").filter({ hasText: "session:s could not be read: Error: the host is gone" });
    await why.waitFor();
    await page.locator(".scope", { hasText: "session:s" }).waitFor();
    await page.evaluate("new Promise((done) => setTimeout(done, 300))"); // The worker reports the header meanwhile.
    expect(await why.isVisible()).toBe(true);
    await page.evaluate(`inspect.open("a log", ${JSON.stringify(golden("waits"))})`);
    await why.waitFor({ state: "detached" });
  });

  it("opens a file that is dropped or chosen", async () => {
    await show(golden("owner-lost"));
    await page.evaluate(`inspect.drop("parallel.jsonl", ${JSON.stringify(golden("parallel-and-serial"))})`);
    const events = golden("parallel-and-serial").trim().split("\n").length - 1;
    await page.locator(".status", { hasText: `${events} events` }).waitFor();
    const buffer = Buffer.from(golden("waits"));
    await page.getByLabel("Open a log file").setInputFiles({ name: "waits.jsonl", mimeType: "text/plain", buffer });
    await page.locator(".status", { hasText: "18 events" }).waitFor();
  });

  it("saves a log as an identical file, which can be opened again", async () => {
    const log = golden("waits");
    await show(log);
    const saving = page.waitForEvent("download");
    await page.getByRole("button", { name: "Save" }).click();
    const saved = await saving;
    expect(saved.suggestedFilename()).toMatch(/^session-\w+\.jsonl$/);
    const file = await saved.path();
    expect(readFileSync(file, "utf8")).toBe(log);
    await page.evaluate(`inspect.open("another", ${JSON.stringify(golden("owner-lost"))})`);
    await page.locator(".status", { hasText: "15 events" }).waitFor();
    await page.getByLabel("Open a log file").setInputFiles(file);
    await page.locator(".status", { hasText: "18 events" }).waitFor();
    expect(await page.evaluate("inspect.inspector.text()")).toBe(log);
  });

  it.each(["reduce", "no-preference"] as const)(
    "animates only if the user allows motion: %s",
    async (reducedMotion) => {
      complaints = [];
      const context = await browser.newContext({ reducedMotion });
      await watchMotion(context);
      page = await openPage(context, code, complaints);
      await page.evaluate(`inspect.open("a log", ${JSON.stringify(longLog(400))})`);
      await page.locator(".event-head").waitFor();
      await page.locator(".events").focus();
      for (const key of ["Home", "PageDown", "Shift+ArrowRight", "+", "-", "c", "End", "Home", "?"])
        await page.keyboard.press(key);
      await page.locator(".event").nth(3).hover();
      for (const name of ["Play", "Pause"]) await page.getByRole("button", { name }).click();
      for (const name of ["State", "Waiting", "Fork", "Event"])
        await page.getByRole("tab", { name, exact: true }).click();
      await page.getByRole("button", { name: "Save", exact: true }).hover();
      await page.getByLabel("Search lines").fill("call.settled");
      await page.locator(".status", { hasText: " of " }).waitFor();
      const motions = await motionsIn(page);
      if (reducedMotion === "reduce") expect(motions).toEqual([]);
      else expect(motions.filter((one) => !one.startsWith("transitionrun background-color"))).toEqual([]);
      expect(motions.length > 0).toBe(reducedMotion === "no-preference");
    },
  );

  it.each([
    ["light", 1280],
    ["dark", 1280],
    ["light", 390],
    ["dark", 390],
  ] as const)("is accessible, %s, %i wide", async (colorScheme, width) => {
    await show(golden("owner-lost"), { colorScheme, viewport: { width, height: 800 }, reducedMotion: "reduce" });
    for (const name of ["State", "Waiting", "Fork", "Event"]) {
      await page.getByRole("tab", { name, exact: true }).click();
      expect(await violationsIn(page)).toEqual([]);
      await takePicture(page, `inspector-${name.toLowerCase()}-${colorScheme}-${width}`);
    }
    const overflow = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
    expect(overflow).toBeLessThanOrEqual(0);
  });
});

describe.skipIf(!hasChromium)(hasChromium ? "a log of 50,000 events" : withoutChromium, { timeout: 300_000 }, () => {
  it("is painted soon, read in seconds, and leaves the page time for its frames while scrubbing", async () => {
    const { painted, whole, busy, scrubbed, place, complaints } = await copeWith(50_000, 80);
    expect(place).toMatch(/ \/ 50014$/);
    expect(complaints).toEqual([]);
    // On a busy machine each of the two bounds the other.
    expect(painted).toBeLessThan(Math.max(8000, whole / 3));
    expect(whole).toBeLessThan(Math.max(60_000, painted * 20));
    expect(busy).toBeLessThan(50); // A frame of 16 ms on a processor that is five times slower than this one.
    expect(quantile(scrubbed, 0.5)).toBeLessThan(2000);
  });
});

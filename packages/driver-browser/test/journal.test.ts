/** The journal in IndexedDB does in a real browser what every journal must do. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { journalChecks, moveChecks, platformChecks } from "@pawl/testkit";
import type { BrowserContext, Page } from "playwright-core";
import { beforeAll, expect, it } from "vitest";
import { spawnChromium } from "../../../test/runtime/chromium.ts";
import { inChromium } from "../../../test/runtime/in-chromium.ts";
import { origin, pageWith } from "../../../test/runtime/page.ts";

inChromium("a journal in IndexedDB", "packages/driver-browser/test/page/journal.ts", (at) => {
  let context: BrowserContext;
  let page: Page;
  const openPage = (within: BrowserContext = context): Promise<Page> => pageWith(within, at.code);
  beforeAll(async () => {
    context = await at.browser.newContext();
    page = await openPage();
  });

  it.each([...journalChecks, ...moveChecks].map(({ name }) => name))("%s", async (name) => {
    expect(await page.evaluate(`suite.run(${JSON.stringify(name)})`)).toBeUndefined();
  });

  it.each(platformChecks.map(({ name }) => name))("its platform: %s", async (name) => {
    expect(await page.evaluate(`suite.runPlatform(${JSON.stringify(name)})`)).toBeUndefined();
  });

  it("refuses what a newer driver has made, and says so", async () => {
    await page.evaluate(`suite.openVersion("newer", 99)`);
    expect(await page.evaluate(`suite.refusal({ name: "newer" })`)).toBe("newer_schema");
  });

  it("says that an older tab is in the way of a newer version", async () => {
    const older = await openPage();
    await older.evaluate(`suite.openVersion("held", 1)`);
    expect(await page.evaluate(`suite.refusal({ name: "held" })`)).toBe("blocked");
    await older.close();
  });

  it("says that it has nowhere to write", async () => {
    const bare = await openPage();
    await bare.evaluate(`void Object.defineProperty(globalThis, "indexedDB", { value: undefined })`);
    expect(await bare.evaluate(`suite.refusal({ name: "none" })`)).toBe("unavailable");
    await bare.close();
  });

  it("says that it is closed when the browser has cleared its storage, and acknowledges nothing more", async () => {
    const cleared = await openPage(await at.browser.newContext());
    const filling = cleared.evaluate(`suite.fill({ name: "evicted" }, 1_000_000, 100)`);
    await cleared.waitForFunction(`Number(document.title) >= 5`);
    const session = await cleared.context().newCDPSession(cleared);
    await session.send("Storage.clearDataForOrigin", { origin, storageTypes: "all" });
    expect(((await filling) as readonly string[]).at(-1)).toBe("failed");
    await cleared.context().close();
  });

  it("says that there is no more room, and what was acknowledged is there", async () => {
    const small = await openPage(await at.browser.newContext());
    const session = await small.context().newCDPSession(small);
    await session.send("Storage.overrideQuotaForOrigin", { origin, quotaSize: 1_000_000 });
    const results = (await small.evaluate(`suite.fill({ name: "small" }, 40, 100_000)`)) as readonly string[];
    expect(results.at(-1)).toBe("full");
    const taken = results.filter((result) => result === "ok").length;
    expect(taken).toBeGreaterThan(1);
    expect(await small.evaluate(`suite.seqsIn({ name: "small" })`)).toHaveLength(taken);
    await small.context().close();
  });

  it("keeps within the room that it is given", async () => {
    const results = (await page.evaluate(`suite.fill({ name: "room", room: 5_000 }, 9, 1_000)`)) as readonly string[];
    expect(results).toEqual(["ok", "ok", "ok", "ok", "full"]);
  });

  it("takes nothing from a tab whose fence was taken, also in scopes that nobody claimed since", async () => {
    const told = ["claimed", "fenced", "superseded", 0, "ok"];
    expect(await page.evaluate(`suite.writeSuperseded("seat")`)).toEqual(told);
  });

  it("lets a call go on in another tab, when its own was closed in its midst", async () => {
    const first = await openPage();
    void first.evaluate(`void suite.callTool("agent", 3_600_000)`);
    await first.waitForFunction(`document.title === "first is done"`);
    await first.waitForTimeout(100);
    await first.close({ runBeforeUnload: false });
    const second = await openPage();
    expect(await second.evaluate(`suite.callTool("agent", 1)`)).toEqual({ status: "success", payload: [1, 1] });
    await second.close();
  });

  it("has what it acknowledged when the browser was killed with SIGKILL", async () => {
    const profile = mkdtempSync(join(tmpdir(), "pawl-chromium-"));
    const first = await spawnChromium(profile);
    const tab = await openPage(first.browser.contexts()[0]);
    void tab.evaluate(`void suite.fill({ name: "killed" }, 1_000_000, 500)`);
    await tab.waitForFunction(`Number(document.title) >= 30`);
    const acknowledged = Number(await tab.title());
    first.kill();
    rmSync(join(profile, "DevToolsActivePort"));
    rmSync(join(profile, "SingletonLock"), { force: true });
    const second = await spawnChromium(profile);
    const seqs = (await (
      await openPage(second.browser.contexts()[0])
    ).evaluate(`suite.seqsIn({ name: "killed" })`)) as readonly number[];
    second.kill();
    expect(seqs.length).toBeGreaterThanOrEqual(acknowledged);
    expect(seqs).toEqual(seqs.map((_, i) => i + 1));
    rmSync(profile, { recursive: true, maxRetries: 5 });
  });
});

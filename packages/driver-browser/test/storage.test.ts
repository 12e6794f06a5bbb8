/** Large values in a tab, and browsers that do not store: each tried in a real one. */
import { blobChecks } from "@pawl/testkit";
import type { BrowserContext, Page } from "playwright-core";
import { afterEach, beforeEach, expect, it } from "vitest";
import { inChromium } from "../../../test/runtime/in-chromium.ts";
import { origin, pageWith } from "../../../test/runtime/page.ts";

const call = (page: Page, request: string, size: number): Promise<string> =>
  page.evaluate(`suite.call("${request}", ${size})`);

inChromium("what a browser stores", "packages/driver-browser/test/page/storage.ts", (at) => {
  let context: BrowserContext;
  beforeEach(async () => {
    context = await at.browser.newContext();
  });
  afterEach(() => context.close());

  const openPage = (): Promise<Page> => pageWith(context, at.code);
  const opened = async (name: string): Promise<Page> => {
    const page = await openPage();
    expect(await page.evaluate(`suite.open("${name}")`)).toBe("opened");
    return page;
  };

  it.each(blobChecks.map(({ name }) => name))("a store of blobs in IndexedDB: %s", async (name) => {
    const page = await openPage();
    expect(await page.evaluate(`suite.run(${JSON.stringify(name)})`)).toBeUndefined();
  });

  it("puts values above the bound aside, and gives them to callers, other tabs and files", async () => {
    const first = await opened("large");
    const outcome = await call(first, "r", 200_000);
    expect(outcome.length).toBeGreaterThan(200_000);
    const { longest, blobs } = await first.evaluate<{ longest: number; blobs: number }>("suite.lengthsOf()");
    expect([longest < 2000, blobs]).toEqual([true, 1]);
    expect((await first.evaluate<string>("suite.saved()")).length).toBeGreaterThan(200_000);
    expect(await first.evaluate("suite.sweep()")).toEqual(["f".repeat(64)]);
    const second = await opened("large");
    await first.close({ runBeforeUnload: false });
    expect(await call(second, "r", 200_000)).toBe(outcome);
  });

  it("keeps bytes that bodies put, for the next page", async () => {
    const first = await opened("bytes");
    const id = await first.evaluate<string>(`suite.draw("r1")`);
    expect(id).toBe("039058c6f2c0cb492c533b0a4d14ef77cc0f78abccced5287d84a1a2011cfb81"); // The SHA-256 of 1, 2, 3.
    expect(await first.evaluate(`suite.draw("r2")`)).toBe(id);
    await first.close({ runBeforeUnload: false });
    const second = await opened("bytes");
    expect(await second.evaluate(`suite.bytesOf("${id}")`)).toEqual([1, 2, 3]);
    expect(await second.evaluate(`suite.bytesOf("${"0".repeat(64)}")`)).toEqual([]);
  });

  it("lets a log out as a file, and in again elsewhere, where it goes on; once, and only if it is whole", async () => {
    const first = await opened("here");
    const outcome = await call(first, "r", 200_000);
    const file = await first.evaluate<string>("suite.saved()");
    const second = await opened("there");
    const takenIn = (text: string): Promise<string> => second.evaluate(`suite.takeIn(${JSON.stringify(text)})`);
    expect(await takenIn(file.replace('"cmds":"', '"cmds":"f'))).toBe("quarantined");
    expect(await takenIn(file.replace(/^\{"blob".*\n/m, ""))).toBe("blob_missing");
    expect(await takenIn(file.replace(/\}\n$/, ',"sealed":[]}\n'))).toBe("sealed");
    expect(await takenIn(file)).toBe("session:s");
    expect(await takenIn(file)).toBe("scope_exists");
    expect(await second.evaluate("suite.saved()")).toBe(file);
    expect(await call(second, "r", 200_000)).toBe(outcome);
    expect(await call(second, "next", 10)).toContain("success");
  });

  it("says that a large value has no room, and goes on with the next", async () => {
    const page = await opened("quota");
    await page.evaluate("suite.fillUp(true)");
    const refused = JSON.parse(await call(page, "r1", 1_000_000)) as unknown;
    expect(refused).toMatchObject({
      status: "failure",
      payload: { class: "resource_limit", code: "value_not_stored" },
    });
    expect(await page.evaluate("suite.faults")).toEqual([
      expect.stringMatching(/`step.settled` was not stored: full$/),
    ]);
    expect((await call(page, "r2", 10)).length).toBeLessThan(100);
    await page.evaluate("suite.fillUp(false)");
    expect((await call(page, "r3", 1_000_000)).length).toBeGreaterThan(1_000_000);
  });

  it.each([
    ["throws where it is only looked at", "throws"],
    ["refuses to open anything", "refuses"],
    ["refuses as in private windows", "private"],
    ["has none", "null"],
  ])("says that it can not store where IndexedDB %s", async (_, how) => {
    const page = await openPage();
    await page.evaluate(`suite.patch("${how}")`);
    expect(await page.evaluate(`suite.open("none")`)).toBe("unavailable");
  });

  it("says so in a frame that a sandbox keeps from storing", async () => {
    const page = await openPage();
    await page.evaluate(`void document.body.append(Object.assign(document.createElement("iframe"), {
      srcdoc: "<!doctype html>", sandbox: "allow-scripts" }))`);
    await expect.poll(() => page.frames().length).toBe(2);
    const frame = page.frames()[1];
    await frame?.addScriptTag({ content: at.code });
    expect(await frame?.evaluate(`suite.open("sandboxed")`)).toBe("unavailable");
  });

  it("ends with a reason, for all who wait, when the browser clears its storage while it is open", async () => {
    const page = await opened("evicted");
    await call(page, "r", 10);
    const watching = page.evaluate("suite.refusals()");
    await page.evaluate("suite.wait()");
    const session = await context.newCDPSession(page);
    await session.send("Storage.clearDataForOrigin", { origin, storageTypes: "all" });
    await expect.poll(() => page.evaluate("suite.changes")).toEqual([true, false]);
    const [, , followed] = (await watching) as readonly string[];
    expect(["closed", "failed"]).toContain(followed); // What was being read when it happened has failed.
    expect(await page.evaluate("suite.waitEnded()")).toBe("scope_lost");
    expect(await page.evaluate("suite.refusals()")).toEqual(["closed", "closed", "closed"]);
    expect(await page.evaluate("suite.faults")).toContain("the journal was closed: closed");
    const next = await opened("evicted");
    expect(await call(next, "r", 10)).toContain("success");
  });

  it.each([1, 4])("leaves a database of version %i alone that is something else's", async (version) => {
    const page = await openPage();
    await page.evaluate(`suite.makeOther("notes", ${version})`);
    expect(await page.evaluate(`suite.open("notes")`)).toBe("not_a_journal");
    expect(await page.evaluate(`suite.otherNow("notes")`)).toEqual({ row: "milk", version, stores: ["note"] });
    expect(await page.evaluate(`suite.open("of its own")`)).toBe("opened");
  });

  it("says that it is closed when its database was deleted, and not that it is older than another", async () => {
    const page = await opened("deleted");
    await call(page, "r", 10);
    await page.evaluate(`suite.remove("deleted")`);
    expect(await page.evaluate("suite.refusals()")).toEqual(["closed", "closed", "closed"]);
    expect(await page.evaluate("suite.faults")).toEqual(["the journal was closed: closed"]);
  });

  it("refuses what is asked of a tab that was closed, and lets nobody wait for it", async () => {
    const page = await opened("left");
    await page.evaluate("suite.close()");
    expect(await page.evaluate("suite.refusals()")).toEqual(["closed", "closed", "closed"]);
  });

  it.each([1, 2])("goes on with a session that the driver of version %i recorded", async (version) => {
    const first = await opened("new");
    const outcome = await call(first, "r", 500);
    await first.evaluate("suite.close()");
    await first.evaluate(`suite.copyAs("new", "old", ${version})`);
    const second = await opened("old");
    expect(await call(second, "r", 500)).toBe(outcome);
    expect((await call(second, "next", 200_000)).length).toBeGreaterThan(200_000);
    expect(await second.evaluate("suite.lengthsOf()")).toMatchObject({ blobs: 1 });
  });

  it("waits for an older tab that lets go, and says of one that does not that it is in the way", async () => {
    const older = await openPage();
    await older.evaluate(`suite.hold("held", 2, true)`);
    await opened("held");
    await older.evaluate(`suite.hold("stuck", 2, false)`);
    const page = await openPage();
    expect(await page.evaluate(`suite.open("stuck")`)).toBe("blocked");
    await older.evaluate("letGo()");
    expect(await page.evaluate(`suite.open("stuck")`)).toBe("opened");
    expect(await call(page, "r", 10)).toContain("success");
  });

  it("lets a newer page make the journal newer, and says to reload", async () => {
    const page = await opened("outdated");
    const newer = await openPage();
    await newer.evaluate(`suite.upgradeTo("outdated", 99)`);
    await expect.poll(() => page.evaluate("suite.changes")).toEqual([true, false]);
    expect(await page.evaluate("suite.refusals()")).toEqual(["newer_schema", "newer_schema", "newer_schema"]);
    expect(await newer.evaluate(`suite.open("outdated")`)).toBe("newer_schema");
  });
});

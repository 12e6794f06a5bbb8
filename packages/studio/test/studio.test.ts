/** Studio in Chromium: its login, the list of runs and one of them, and what hostile logs and tools for access find. */
import { setTimeout as pause } from "node:timers/promises";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { violationsIn } from "../../../test/runtime/axe.ts";
import { hasChromium, openChromium, withoutChromium } from "../../../test/runtime/chromium.ts";
import { takePicture } from "../../../test/runtime/picture.ts";
import { ann, args, card, opened, started } from "./rig.ts";

const hostile = `<img src=x onerror="globalThis.owned = 1">"'</pre><script>globalThis.owned = 1</script>`;
const themes = ["light", "dark"] as const;

describe.skipIf(!hasChromium)(hasChromium ? "studio" : withoutChromium, () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await openChromium();
  });
  afterAll(() => browser.close());

  it("keeps the token out of the address and out of reach of scripts, and forgets it when told to", async () => {
    const host = await started();
    const { page, context } = await opened(browser, host);
    expect(page.url()).toBe(`${host.http}/studio/#/inbox`);
    const seen = "document.cookie + JSON.stringify(localStorage) + JSON.stringify(history.state)";
    expect(await page.evaluate(seen)).not.toContain("pawl1");
    const [cookie] = await context.cookies(`${host.http}/v1/login`);
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: "Strict", path: "/v1" });
    await page.reload();
    await page.getByRole("heading", { name: "Inbox" }).waitFor();
    await page.getByRole("button", { name: "Log out" }).click();
    const token = page.getByLabel("Token of the host");
    await token.waitFor();
    expect(await context.cookies(`${host.http}/v1/login`)).toEqual([]);
    expect(await violationsIn(page)).toEqual([]);
    await token.fill("pawl1.e30.AAAA");
    await page.getByRole("button", { name: "Log in" }).click();
    await page.getByText("not signed by this host").waitFor();
    await token.fill(host.host.sign(ann));
    await page.keyboard.press("Enter");
    await page.getByText("Nothing waits for a person.").waitFor();
  });

  it("tells a reader whose token ends to log in again", async () => {
    const host = await started();
    const { page } = await opened(browser, host, { claims: { ...ann, expires_at: Date.now() + 8000 } });
    await page.getByText("Your login has ended.").waitFor();
    expect(await page.getByLabel("Token of the host").isVisible()).toBe(true);
  });

  it("lists what runs by state, as it changes, and shows one session with why it waits", async () => {
    const host = await started();
    await host.call("a done", "r", "echo", { text: "hello" });
    await host.call("a failed", "r", "fails");
    await host.call("asks", "r", "refund");
    await host.call("sleeps", "r 1", "sleeps");
    await (await host.runtime.session("asks")).describe({ title: "Refund for Olena", tags: ["shop"] });
    await host.outcome("a failed", "r");
    const { page } = await opened(browser, host, { hash: "#/runs" });
    await page.locator(".run", { hasText: "sleeps" }).getByText("waits for time").waitFor();
    expect(await page.locator(".run").count()).toBe(4);
    expect(await page.locator(".run", { hasText: "a failed" }).locator(".status").textContent()).toBe("failed");
    await takePicture(page, "studio-runs");
    await page.getByRole("button", { name: "Waits for something else" }).click();
    expect(await page.locator(".run .name").allTextContents()).toEqual(["sleeps"]);
    await page.getByRole("button", { name: "All" }).click();
    await page.getByRole("searchbox").fill("olena");
    expect(await page.locator(".run .name").allTextContents()).toEqual(["Refund for Olena"]);
    await page.getByRole("searchbox").fill("");
    await host.call("new one", "r", "refund");
    await page.locator(".run", { hasText: "new one" }).getByText("waits for a person").waitFor();
    await page.getByRole("link", { name: /^sleeps/ }).click();
    await page.getByRole("heading", { name: "sleeps", level: 1 }).waitFor();
    await page.locator(".call", { hasText: "waits for" }).waitFor();
    await takePicture(page, "studio-session");
    await page.getByRole("button", { name: "Cancel request" }).click();
    await expect.poll(async () => (await host.outcome("sleeps", "r 1"))?.status).toBe("cancelled");
    await page.locator(".request .status", { hasText: "cancelled" }).first().waitFor();
    await page.evaluate(`location.hash = "#/session/a%20done"`);
    await page.locator(".request pre", { hasText: "hello" }).waitFor();
  });

  it("lists a session whose log cannot be read beside the others", async () => {
    const host = await started();
    await host.call("fine", "r", "echo");
    const { journal } = host;
    const broken: typeof journal = {
      ...journal,
      scopes: async (...of) => [...(await journal.scopes(...of)), { scope: "session:old", epoch: 1, seq: 1 }],
      read: async (scope, ...of) =>
        scope === "session:old" ? [{ seq: 1, line: '{"not":"a line"}' }] : journal.read(scope, ...of),
    };
    await host.stop();
    const next = await started(broken, host.host.port, "i2");
    const { page } = await opened(browser, next, { hash: "#/runs" });
    await page
      .locator(".run", { hasText: "old" })
      .getByText(/^unreadable/)
      .waitFor();
    await page.getByRole("button", { name: "Failed" }).click();
    expect(await page.locator(".run .name").allTextContents()).toEqual(["old"]);
  });

  it("goes through the store page by page", async () => {
    const host = await started();
    for (let n = 0; n < 103; n++) await host.runtime.session(`s${String(n).padStart(3, "0")}`);
    const { page } = await opened(browser, host, { hash: "#/runs" });
    await expect.poll(() => page.locator(".run").count()).toBe(100);
    await page.getByRole("link", { name: "Next page" }).click();
    await expect.poll(() => page.locator(".run").count()).toBe(3);
    await page.getByRole("link", { name: "First page" }).click();
    await expect.poll(() => page.locator(".run").count()).toBe(100);
  });

  it("shows hostile values as the text that they are", async () => {
    const host = await started();
    const name = hostile.slice(0, 60);
    await host.call(name, "r", "refund", { ...args, to: hostile, [hostile]: hostile });
    await host.call("x", name, "echo", { text: hostile });
    await (await host.runtime.session("x")).describe({ title: hostile, tags: [hostile] });
    const { page } = await opened(browser, host);
    await card(page, "onerror").waitFor();
    await card(page, "onerror").getByRole("button", { name: "Edit" }).click();
    for (const hash of [
      "#/runs",
      "#/session/x",
      `#/session/${encodeURIComponent(name)}`,
      "#/session/%3Cscript%3E",
      "#/%zz",
      "#/session/%zz",
    ]) {
      await page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
      await pause(150);
    }
    expect(await page.evaluate("globalThis.owned")).toBeUndefined();
    expect(await page.locator("main img, main script").count()).toBe(0);
    const { headers } = await fetch(`${host.http}/studio/`);
    expect(headers.get("content-security-policy")).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self';/);
    expect((await fetch(`${host.http}/studio/..%2findex.ts`)).status).toBe(404);
    expect((await fetch(`${host.http}/studio/`, { method: "POST" })).status).toBe(405);
  });

  it.each(themes)("has nothing that axe finds, in %s", async (colorScheme) => {
    const host = await started();
    for (const n of [1, 2]) await host.call(`shop/${n}`, "r", "refund", { ...args, to: `person ${n}` });
    await host.call("done", "r", "echo");
    const { page } = await opened(browser, host, { colorScheme });
    await card(page, "person 2").waitFor();
    expect(await violationsIn(page)).toEqual([]);
    await page.locator(".card").first().getByRole("button", { name: "Edit" }).click();
    await page.locator(".card").last().getByRole("button", { name: "Reject" }).click();
    expect(await violationsIn(page)).toEqual([]);
    await takePicture(page, `studio-inbox-${colorScheme}`);
    for (const hash of ["#/runs", "#/session/done", "#/session/shop%2F1"]) {
      await page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
      await page.locator(".status").first().waitFor();
      expect(await violationsIn(page)).toEqual([]);
    }
  });
});

/** The inbox in Chromium: what waits is decided there, at a desk, by the keyboard alone, and on a phone. */
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { violationsIn } from "../../../test/runtime/axe.ts";
import { hasChromium, openChromium, withoutChromium } from "../../../test/runtime/chromium.ts";
import { takePicture } from "../../../test/runtime/picture.ts";
import { ann, args, card, opened, started } from "./rig.ts";

const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true } as const;
const nothing = "Nothing waits for a person.";

describe.skipIf(!hasChromium)(hasChromium ? "the inbox" : withoutChromium, () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await openChromium();
  });
  afterAll(() => browser.close());

  it("shows what waits as soon as it does, and approves it on a phone", { retry: 2 }, async () => {
    const host = await started();
    const { page } = await opened(browser, host, phone);
    await page.getByText(nothing).waitFor();
    await host.call("shop/1", "r", "refund");
    await expect.poll(() => host.runtime.awaitingApproval()).toHaveLength(1);
    const began = Date.now();
    await card(page, "Olena").waitFor();
    expect(Date.now() - began).toBeLessThan(1000);
    expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
    expect(await violationsIn(page)).toEqual([]);
    await takePicture(page, "studio-inbox-phone");
    await card(page, "Olena").getByRole("button", { name: "Approve" }).tap();
    expect(await host.outcome("shop/1", "r")).toMatchObject({ status: "success", payload: args });
    await page.getByText(nothing).waitFor();
  });

  it("edits arguments by their schema, and rejects with a reason", async () => {
    const host = await started();
    await host.call("shop/1", "r", "refund");
    await host.call("shop/2", "r", "refund", { ...args, to: "Taras" });
    const { page } = await opened(browser, host);
    await card(page, "Olena").getByRole("button", { name: "Edit" }).click();
    const form = page.locator(".card").first();
    await form.getByLabel("Amount").fill("forty");
    await form.getByRole("button", { name: "Approve with these" }).click();
    await form.getByText("amount: expected a number, found `forty`").waitFor();
    await form.getByLabel("Amount").fill("12.5");
    await form.getByLabel("speed").selectOption("fast");
    await form.getByLabel("notify").uncheck();
    await form.getByLabel("lines").fill('["a", "b"]');
    await takePicture(page, "studio-edit");
    await form.getByRole("button", { name: "Approve with these" }).click();
    const edited = { amount: 12.5, to: "Olena", speed: "fast", notify: false, lines: ["a", "b"] };
    expect(await host.outcome("shop/1", "r")).toMatchObject({ status: "success", payload: edited });
    await card(page, "Taras").getByRole("button", { name: "Reject" }).click();
    await page.getByLabel(/Why not/).fill("Too much for Taras");
    await card(page, "Taras").getByRole("button", { name: "Reject" }).click();
    const rejected = await host.outcome("shop/2", "r");
    expect([rejected?.status, JSON.stringify(rejected)]).toEqual([
      "failure",
      expect.stringContaining("Too much for Taras"),
    ]);
  });

  it("approves the tool for the rest of the session", async () => {
    const host = await started();
    await host.call("shop/1", "r1", "refund");
    const { page } = await opened(browser, host);
    await card(page, "Olena").getByRole("button", { name: "Always" }).click();
    expect(await host.outcome("shop/1", "r1")).toMatchObject({ status: "success" });
    await host.call("shop/1", "r2", "refund", { ...args, amount: 2 });
    expect(await host.outcome("shop/1", "r2")).toMatchObject({ status: "success" });
  });

  it("is worked by the keyboard alone", async () => {
    const host = await started();
    for (const n of [1, 2, 3]) await host.call(`shop/${n}`, "r", "refund", { ...args, to: `person ${n}` });
    const { page } = await opened(browser, host);
    await card(page, "person 3").waitFor();
    await page.keyboard.press("j");
    await page.keyboard.press("j");
    await page.keyboard.press("a");
    expect(await host.outcome("shop/2", "r")).toMatchObject({ status: "success" });
    await expect.poll(() => page.locator(".card").count()).toBe(2);
    await expect.poll(() => page.evaluate("document.activeElement.textContent.includes('person 3')")).toBe(true);
    await page.keyboard.press("r");
    await page.keyboard.type("later, a person");
    await page.keyboard.press("Control+Enter");
    expect(await host.outcome("shop/3", "r")).toMatchObject({ status: "failure" });
    await expect.poll(() => page.locator(".card").count()).toBe(1);
    await page.keyboard.press("k");
    await page.keyboard.press("e");
    await page.keyboard.press("Escape");
    await card(page, "person 1").getByRole("button", { name: "Approve" }).press("Enter");
    expect(await host.outcome("shop/1", "r")).toMatchObject({ status: "success" });
  });

  it("keeps what somebody types while other calls come and go", async () => {
    const host = await started();
    await host.call("shop/1", "r", "refund");
    const { page } = await opened(browser, host);
    await card(page, "Olena").getByRole("button", { name: "Reject" }).click();
    await page.getByLabel(/Why not/).fill("Not yet");
    await host.call("shop/0", "r", "refund", { ...args, to: "Taras" });
    await card(page, "Taras").waitFor();
    expect(await page.getByLabel(/Why not/).inputValue()).toBe("Not yet");
    expect(await page.evaluate("document.activeElement.name")).toBe("reason");
  });

  it("tells the second of two people that somebody has decided", async () => {
    const host = await started();
    await host.call("shop/1", "r", "refund");
    const { page } = await opened(browser, host);
    await card(page, "Olena").waitFor();
    const session = await host.runtime.session("shop/1");
    const [wanted] = await session.approvals();
    await page.route("**/approvals/*", async (route) => {
      await wanted?.reject({ by: "bob", reason: "no" }).catch(() => undefined); // Bob was first, whoever asks.
      await route.continue();
    });
    await page.route("**/v1/approvals?*", () => undefined); // The list of this reader is late.
    await card(page, "Olena").getByRole("button", { name: "Approve" }).click();
    await page.getByText("somebody else has decided").or(page.getByText("Nothing waits")).first().waitFor();
    expect(await host.outcome("shop/1", "r")).toMatchObject({ status: "failure" });
  });

  it("shows a reader without the right to approve what waits, and no buttons", async () => {
    const host = await started();
    await host.call("shop/1", "r", "refund");
    const { page } = await opened(browser, host, { claims: { ...ann, rights: ["observe"] } });
    await card(page, "Olena").waitFor();
    expect(await page.locator(".card button").count()).toBe(0);
  });

  it("goes on when its host comes back: nothing is shown twice or lost", async () => {
    const host = await started();
    await host.call("shop/1", "r", "refund");
    const { page } = await opened(browser, host);
    await card(page, "Olena").waitFor();
    await host.stop();
    await page.getByText("The host does not answer").waitFor();
    const next = await started(host.journal, host.host.port, "i2");
    await next.call("shop/2", "r", "refund", { ...args, to: "Taras" });
    await card(page, "Taras").waitFor();
    expect(await page.locator(".card").count()).toBe(2);
    await expect.poll(() => page.getByText("The host does not answer").isVisible()).toBe(false);
    await card(page, "Olena").getByRole("button", { name: "Approve" }).click();
    expect(await next.outcome("shop/1", "r")).toMatchObject({ status: "success" });
  });
});

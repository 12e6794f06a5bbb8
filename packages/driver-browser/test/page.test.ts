/** A page as a host serves it: under a strict policy, and small. */
import type { Browser } from "playwright-core";
import { describe, expect, it } from "vitest";
import { browserSizeKb } from "../../../bench/src/browser.ts";
import { hasChromium, openChromium, withoutChromium } from "../../../test/runtime/chromium.ts";
import { origin, scriptOf } from "../../../test/runtime/page.ts";

const policy = "default-src 'self'; script-src 'self'";

const served = async (browser: Browser) => {
  const page = await browser.newPage();
  const code = await scriptOf("packages/driver-browser/test/page/tab.ts");
  await page.route(`${origin}/**`, (route) =>
    route.request().url().endsWith("/page.js")
      ? route.fulfill({ contentType: "text/javascript", body: code })
      : route.fulfill({
          contentType: "text/html",
          headers: { "content-security-policy": policy },
          body: `<!doctype html><script src="/page.js"></script>`,
        }),
  );
  await page.goto(origin);
  return page;
};

describe.skipIf(!hasChromium)(hasChromium ? "a page under a strict Content-Security-Policy" : withoutChromium, () => {
  it("runs a session, and checks arguments by their JSON Schema, with nothing that the policy forbids", async () => {
    const browser = await openChromium();
    try {
      const page = await served(browser);
      await page.evaluate(
        `void (globalThis.violations = [], addEventListener("securitypolicyviolation", ({ blockedURI }) => violations.push(blockedURI)))`,
      );
      await page.evaluate(`suite.open("csp", 1000)`);
      expect(await page.evaluate(`suite.greeting("good", { name: "ann", at: "2026-11-18T10:00:00Z" })`)).toEqual({
        status: "success",
        payload: "hello, ann",
      });
      const bad = JSON.stringify(await page.evaluate(`suite.greeting("bad", { name: "ANN" })`));
      expect(bad).toContain("failure");
      expect(bad).toContain("name");
      expect(await page.evaluate(`violations`)).toEqual([]);
      await page.evaluate(`void setTimeout(() => (document.title = suite.forbidden()))`);
      await expect.poll(() => page.title()).toBe("EvalError");
    } finally {
      await browser.close();
    }
  });
});

describe("what a page loads", () => {
  it("does not grow beyond what it has come to", async () => {
    expect(await browserSizeKb()).toBeLessThan(120);
  });
});

/** A page as a host serves it: under a strict policy, and small. */
import type { Browser } from "playwright-core";
import { describe, expect, it } from "vitest";
import { kbOf, pageFiles } from "../../../bench/src/browser.ts";
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
  it("at its start does not grow beyond what it has come to", async () => {
    expect(kbOf((await pageFiles()).start)).toBeLessThan(110);
  });

  it.skipIf(!hasChromium)("at its start is enough for a call, and the rest comes when it is needed", async () => {
    const { start, later } = await pageFiles();
    const [own] = start.keys();
    const asked = new Set<string>();
    const browser = await openChromium();
    try {
      const page = await browser.newPage();
      await page.route(`${origin}/**`, (route) => {
        const name = new URL(route.request().url()).pathname.slice(1);
        const code = start.get(name) ?? later.get(name);
        if (code === undefined)
          return route.fulfill({ contentType: "text/html", body: `<script type="module" src="/${own}"></script>` });
        asked.add(name);
        return route.fulfill({ contentType: "text/javascript", body: code });
      });
      await page.goto(origin);
      const called = (tool: string): Promise<string> =>
        page.evaluate(`pawl.tab.then(async (tab) => {
          const runtime = await tab.runtime();
          const strict = { type: "object", required: ["to"] };
          runtime.registry.register(pawl.defineTool({ name: "strict", parameters: strict, execute: () => "fits" }));
          const session = await runtime.session("${tool}");
          return JSON.stringify(await session.call("r", [{ id: "c", tool: "${tool}", args: { to: "x" } }]));
        })`);
      expect(await called("t")).toContain("success");
      expect([...asked].toSorted()).toEqual([...start.keys()].toSorted());
      expect(await called("strict")).toContain("fits");
      expect([...asked].filter((name) => later.has(name))).toHaveLength(1);
    } finally {
      await browser.close();
    }
  });
});

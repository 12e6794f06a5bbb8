/** A page as a host serves it: under a strict policy, and small. */
import type { Browser, BrowserContext, Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { type PageFiles, kbOf, pageFiles } from "../../../bench/src/browser.ts";
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

/** The files of the page, as a host serves them; `asked` is told which. */
const pageOf = async (
  { start, later, rare }: PageFiles,
  browser: BrowserContext,
  asked: Set<string>,
  before = "",
): Promise<Page> => {
  const [own] = start.keys();
  const page = await browser.newPage();
  await page.addInitScript(before);
  await page.route(`${origin}/**`, (route) => {
    const name = new URL(route.request().url()).pathname.slice(1);
    const code = start.get(name) ?? later.get(name) ?? rare.get(name);
    if (code === undefined)
      return route.fulfill({ contentType: "text/html", body: `<script type="module" src="/${own}"></script>` });
    asked.add(name);
    return route.fulfill({ contentType: "text/javascript", body: code });
  });
  await page.goto(origin);
  return page;
};

/** A tool of two steps, which the page has before it takes up what was under way. */
const stepping = (second: string): string => `Object.defineProperty(globalThis, "pawl", {
  configurable: true,
  set(made) {
    Object.defineProperty(globalThis, "pawl", { value: made });
    const execute = async (_, ctx) => [await ctx.run("first", () => 1), await ctx.run("second", ${second})];
    const tool = made.defineTool({ name: "stepping", durable: true, execute });
    void made.tab.then(async (tab) => (await tab.runtime()).registry.register(tool));
  },
})`;

/** Of the session of a page. */
const inSession = (act: string): string => `pawl.tab.then(async (tab) => {
  const session = await (await tab.runtime()).session("s");
  ${act}
})`;

describe("what a page loads", () => {
  it("at its start, and when it opens a tab, does not grow beyond what it has come to", async () => {
    const { start, later, rare } = await pageFiles();
    expect(kbOf(start)).toBeLessThan(20);
    expect(kbOf(later)).toBeLessThan(176);
    expect(later.size).toBe(1);
    expect(kbOf(rare)).toBeLessThan(6.5);
  });

  it.skipIf(!hasChromium)("is its start and the engine, whatever it does", async () => {
    const files = await pageFiles();
    const asked = new Set<string>();
    const browser = await openChromium();
    try {
      const context = await browser.newContext();
      const page = await pageOf(files, context, asked);
      const lived = await page.evaluate(
        inSession(`const replies = await session.request("r", [{ label: "c", tool: "t", args: { to: "x" } }]);
        const use = { node_type: "use_tool", tool_name: "t", argument: "x", named_args: [] };
        const { ending } = await session.flow({ request: "f", flow: { name: "f", nodes: [use] } });
        return { outcome: replies[0].output.outcome, ending };`),
      );
      expect(lived).toMatchObject({ outcome: { status: "success" }, ending: { type: "completed" } });
      expect([...asked].toSorted()).toEqual([...files.start.keys(), ...files.later.keys()].toSorted());
    } finally {
      await browser.close();
    }
  });

  it.skipIf(!hasChromium)("is more where it keeps secrets, which steps read", async () => {
    const files = await pageFiles();
    const asked = new Set<string>();
    const browser = await openChromium();
    try {
      const page = await pageOf(files, await browser.newContext(), asked, stepping(`({ secret }) => secret("key")`));
      const read = `await session.secrets.set("key", "a value of a secret");
        return [await session.secrets.get("key"), await session.call("stepping", {}, { id: "r" })];`;
      expect(await page.evaluate(inSession(read))).toEqual(["a value of a secret", [1, "[secret key]"]]);
      const secrets = [...files.rare.keys()].filter((name) => /^(?:redaction|sealed-secret)\b/.test(name));
      expect(secrets).toHaveLength(2);
      expect([...asked].toSorted()).toEqual([...files.start.keys(), ...files.later.keys(), ...secrets].toSorted());
    } finally {
      await browser.close();
    }
  });

  it.skipIf(!hasChromium)("goes on with a call of steps after a reload", async () => {
    const files = await pageFiles();
    const asked = new Set<string>();
    const browser = await openChromium();
    try {
      const context = await browser.newContext();
      const page = await pageOf(files, context, asked, stepping("() => new Promise(() => undefined)"));
      const begin = `void session.request("r", [{ label: "c", tool: "stepping", args: {} }], { keep: true });
        for await (const { event } of session.follow(0, new AbortController().signal))
          if (event.key === "durable-step:second") return event.type;`;
      expect(await page.evaluate(inSession(begin))).toBe("effect.requested");
      await page.close();
      const again = await pageOf(files, context, asked, stepping("() => 2"));
      const replies = await again.evaluate(inSession(`return session.replies("r");`));
      expect(replies).toMatchObject([{ output: { outcome: { status: "success", payload: [1, 2] } } }]);
    } finally {
      await browser.close();
    }
  });

  it.skipIf(!hasChromium)("refuses a misspelt field of a tool, and a schema that is none, as Node does", async () => {
    const browser = await openChromium();
    try {
      const page = await pageOf(await pageFiles(), await browser.newContext(), new Set());
      const refusalOf = (tool: string): Promise<string> =>
        page.evaluate(`(() => { try { pawl.defineTool({ name: "pay", execute: () => 1, ${tool} }); return "taken"; }
          catch ({ code, message }) { return code + ": " + message; } })()`);
      expect(await refusalOf("durable: true")).toBe("taken");
      expect(await refusalOf("durabel: true")).toMatch(/^invalid_tool: tool `pay`: .*`?durabel/);
      expect(await refusalOf(`inputSchema: { type: "strng" }`)).toMatch(/^invalid_tool: .*type: expected/);
    } finally {
      await browser.close();
    }
  });
});

/** A page as a host serves it: under a strict policy, and small. */
import type { Browser, BrowserContext, Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { type PageFiles, kbOf, pageFiles } from "../../../bench/src/browser.ts";
import { hasChromium, openChromium, withoutChromium } from "../../../test/runtime/chromium.ts";
import { origin, scriptOf } from "../../../test/runtime/page.ts";

/** Of an event of a log. */
interface Told {
  readonly type: string;
  readonly key?: string;
}

interface Lived {
  readonly output: unknown;
  readonly ending: unknown;
  readonly log: readonly Told[];
}

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
  { start, later }: PageFiles,
  browser: BrowserContext,
  asked: Set<string>,
  before = "",
): Promise<Page> => {
  const [own] = start.keys();
  const page = await browser.newPage();
  await page.addInitScript(before);
  await page.route(`${origin}/**`, (route) => {
    const name = new URL(route.request().url()).pathname.slice(1);
    const code = start.get(name) ?? later.get(name);
    if (code === undefined)
      return route.fulfill({ contentType: "text/html", body: `<script type="module" src="/${own}"></script>` });
    asked.add(name);
    return route.fulfill({ contentType: "text/javascript", body: code });
  });
  await page.goto(origin);
  return page;
};

/** A body that starts a process, and asks for a step before that can have been loaded. */
const starting = `async (_, ctx) => {
  const started = ctx.processes.start({ id: "p", input: { type: "tool_call", call: { call_id: "w", tool_id: "tool:t", tool_name: "t", args: {}, prepared_payload: null } } });
  const stepped = ctx.runJson("beside", {}, () => "stepped");
  const { status } = await ctx.processes.await("p").then(({ type }) => ({ status: type }));
  return { started: (await started).id, stepped: await stepped, status };
}`;

/** A tool of two steps, which the page has before it takes up what was under way. */
const stepping = (second: string): string => `Object.defineProperty(globalThis, "pawl", {
  configurable: true,
  set(made) {
    Object.defineProperty(globalThis, "pawl", { value: made });
    const execute = async (_, ctx) => [await ctx.runJson("first", 1, () => 1), await ctx.runJson("second", 2, ${second})];
    const tool = made.defineTool({ name: "stepping", durable: true, execute });
    void made.tab.then(async (tab) => (await tab.runtime()).registry.register(tool));
  },
})`;

/** Of the session of a page. */
const inSession = (act: string): string => `pawl.tab.then(async (tab) => {
  const session = await (await tab.runtime()).session("s");
  ${act}
})`;

const logOf = `async (session) => {
  const events = [];
  const over = new AbortController();
  for await (const { seq, event } of session.follow(0, over.signal)) {
    events.push(event);
    if (seq === session.state.seq) over.abort();
  }
  return events;
}`;

describe("what a page loads", () => {
  it("at its start does not grow beyond what it has come to", async () => {
    expect(kbOf((await pageFiles()).start)).toBeLessThan(59.8);
  });

  it.skipIf(!hasChromium)("at its start is enough for a call, and the rest comes when it is needed", async () => {
    const { start, later } = await pageFiles();
    const asked = new Set<string>();
    const browser = await openChromium();
    try {
      const page = await pageOf({ start, later }, await browser.newContext(), asked);
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

  it.skipIf(!hasChromium)("at its start is enough for a call of steps that goes on after a reload", async () => {
    const { start, later } = await pageFiles();
    const asked = new Set<string>();
    const browser = await openChromium();
    try {
      const context = await browser.newContext();
      const page = await pageOf({ start, later }, context, asked, stepping("() => new Promise(() => undefined)"));
      const begin = `void session.call("r", [{ id: "c", tool: "stepping", args: {} }], { keep: true });
        for await (const { event } of session.follow(0, new AbortController().signal))
          if (event.key === "durable-step:second") return event.type;`;
      expect(await page.evaluate(inSession(begin))).toBe("effect.requested");
      await page.close();
      const again = await pageOf({ start, later }, context, asked, stepping("() => 2"));
      const replies = await again.evaluate(inSession(`return session.replies("r");`));
      expect(replies).toMatchObject([{ output: { outcome: { status: "success", payload: [1, 2] } } }]);
      expect([...asked].toSorted()).toEqual([...start.keys()].toSorted());
    } finally {
      await browser.close();
    }
  });

  it.skipIf(!hasChromium)(
    "for processes and flows comes before the first word of them, and after a reload",
    async () => {
      const files = await pageFiles();
      const asked = new Set<string>();
      const browser = await openChromium();
      try {
        const context = await browser.newContext();
        const page = await pageOf(files, context, asked);
        const lived = await page.evaluate(`pawl.tab.then(async (tab) => {
        const runtime = await tab.runtime();
        runtime.registry.register(pawl.defineTool({ name: "starting", durable: true, execute: ${starting} }));
        const session = await runtime.session("s");
        const replies = await session.call("r", [{ id: "c", tool: "starting", args: {} }]);
        const use = { node_type: "use_tool", tool_name: "t", argument: "x", named_args: [] };
        const { ending } = await session.flow({ request: "f", flow: { name: "f", nodes: [use] } });
        return { output: replies[0].output, ending, log: await (${logOf})(session) };
      })`);
        const { output, ending, log } = lived as Lived;
        expect(ending).toMatchObject({ type: "completed" });
        expect(output).toMatchObject({ outcome: { payload: { started: "p", stepped: "stepped", status: "success" } } });
        const requested = log.filter(({ type }) => type === "effect.requested").map(({ key }) => key);
        expect(requested.slice(0, 2)).toEqual(["process:start:p", "durable-step:beside"]);
        expect([...asked].some((name) => files.later.has(name))).toBe(true);
        await page.close();
        const again = await pageOf(files, context, new Set());
        const read = await again.evaluate(`pawl.tab.then(async (tab) => {
        const runtime = await tab.runtime();
        return (${logOf})(await runtime.session("s"));
      })`);
        expect((read as readonly Told[]).slice(0, log.length)).toEqual(log);
      } finally {
        await browser.close();
      }
    },
  );
});

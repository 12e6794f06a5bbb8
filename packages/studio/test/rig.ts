/** A host with tools over a store that outlives it, which serves Studio, and its page in Chromium as somebody sees it. */
import { type Claims, nodePlatform, openHost } from "@pawl/driver-node";
import { Runtime, defineTool, memoryJournal } from "@pawl/runtime";
import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import { afterEach, expect } from "vitest";
import { studioHandler } from "../src/index.ts";

const secret = new Uint8Array(32).fill(9);
const roots = { newest: { kid: "k1", secret: new Uint8Array(32).fill(7) } };
export const ann: Claims = {
  by: "ann",
  scopes: ["session:"],
  rights: ["call", "approve", "observe"],
  expires_at: Date.now() + 3_600_000,
};

const refund = defineTool({
  name: "refund",
  durable: true,
  needsApproval: true,
  inputSchema: {
    type: "object",
    properties: {
      amount: { type: "number", title: "Amount", description: "In euro" },
      to: { type: "string" },
      speed: { enum: ["slow", "fast"] },
      notify: { type: "boolean" },
      lines: { type: "array", items: { type: "string" } },
    },
    required: ["amount", "to"],
  },
  execute: (given) => given,
});
const echo = defineTool({ name: "echo", durable: true, execute: (given) => given });
const fails = defineTool({
  name: "fails",
  durable: true,
  execute: () => {
    throw new Error("no");
  },
});
const sleeps = defineTool({ name: "sleeps", durable: true, execute: (_, ctx) => ctx.sleep("2h") });

export const args = { amount: 40, to: "Olena", speed: "slow", notify: true, lines: ["a"] };

const closings: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closings.splice(0).toReversed()) await close();
});

export const started = async (journal = memoryJournal(), port = 0, instance = "i1") => {
  const tools = [refund, echo, fails, sleeps];
  const runtime = new Runtime({ journal, platform: nodePlatform, tools, instance, roots });
  const host = await openHost({ runtime, secrets: [secret], port, studio: studioHandler });
  const stop = async (): Promise<void> => {
    await host.close();
    await runtime.close();
  };
  closings.push(stop);
  /** Submits a call, and does not wait for its reply. */
  const call = async (session: string, request: string, tool: string, given: object = args): Promise<void> => {
    const open = await runtime.session(session);
    const replies = open.request(request, [{ label: "c", tool, args: given as never }], { keep: true });
    replies.catch(() => undefined); // Ends with its host.
  };
  const outcome = async (session: string, request: string) => {
    const replies = await (await runtime.session(session)).replies(request, { keep: true });
    return replies[0]?.output.outcome;
  };
  return { runtime, host, http: host.url.replace(/^ws/, "http"), stop, call, outcome, journal };
};

interface Visit extends BrowserContextOptions {
  readonly claims?: Claims;
  /** The page to go to, behind `#`. */
  readonly hash?: string;
}

/** Opens the page as somebody. What its console complains about fails the test. */
export const opened = async (
  browser: Browser,
  { http, host }: Awaited<ReturnType<typeof started>>,
  { claims = ann, hash, ...options }: Visit = {},
): Promise<{ readonly page: Page; readonly context: BrowserContext }> => {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(error.stack ?? error.message));
  page.on("console", (message) => {
    const isOfNetwork = /Failed to load resource|net::ERR/.test(message.text());
    if (message.type() === "error" && !isOfNetwork) complaints.push(message.text());
  });
  closings.push(async () => {
    await context.close();
    expect(complaints).toEqual([]);
  });
  await page.goto(`${http}/studio/#token=${host.sign(claims)}`);
  await page.getByRole("heading", { name: "Inbox" }).waitFor();
  if (hash !== undefined) await page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
  return { page, context };
};

/** Finds the card of a call that waits, by a text on it. */
export const card = (page: Page, text: string | RegExp) => page.locator(".card", { hasText: text });

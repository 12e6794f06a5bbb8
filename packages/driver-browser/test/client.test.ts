/** A page that works with a real Node host over WebSocket: drives its sessions, runs tools for it, observes, hands over. */
import { type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type Host, Receivers, nodePlatform, openHost } from "@pawl/driver-node";
import { Runtime, defineTool, memoryJournal } from "@pawl/runtime";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { inChromium } from "../../../test/runtime/in-chromium.ts";

const notHere = (): never => {
  throw new Error("it runs in a page");
};
const tools = [
  defineTool({ name: "echo", durable: true, execute: (args) => args }),
  defineTool({ name: "title", clientSide: true, execute: notHere }),
  defineTool({
    name: "wait",
    durable: true,
    execute: async (_, ctx) => {
      const from = await ctx.run("where", () => "host");
      await ctx.waitFor("go");
      return [from, "host"];
    },
  }),
];

/** A browser lets only a page that was loaded from this machine speak to a host on it. */
const served = async (): Promise<readonly [Server, string]> => {
  const server = createServer((_, response) => {
    response.writeHead(200, { "content-type": "text/html" }).end("<!doctype html>");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return [server, `http://127.0.0.1:${(server.address() as AddressInfo).port}`];
};

inChromium("a page and a host elsewhere", "packages/driver-browser/test/page/client.ts", (at) => {
  let page: Page;
  let host: Host;
  let server: Server;
  beforeAll(async () => {
    const [serving, origin] = await served();
    server = serving;
    const roots = { newest: { kid: "k", secret: new Uint8Array(32).fill(7) } };
    const receivers = new Receivers();
    const journal = memoryJournal();
    const mover = receivers.mover();
    const runtime = new Runtime({ journal, platform: nodePlatform, tools, instance: "host", roots, mover });
    host = await openHost({ runtime, receivers, secrets: [new Uint8Array(32).fill(9)], origins: [origin] });
    page = await at.browser.newPage();
    await page.goto(origin);
    await page.addScriptTag({ content: at.code });
    const token = host.sign({
      by: "page",
      scopes: [""],
      rights: ["call", "resolve", "approve", "observe", "execute", "move"],
      expires_at: 4_000_000_000_000,
    });
    await page.evaluate(`suite.connect("${host.url}", "${token}")`);
  });
  afterAll(async () => {
    await page.close();
    await host.close();
    server.close();
  });

  it("drives a session there, and runs a tool of it here", async () => {
    expect(await page.evaluate(`suite.call("r1", "echo", { n: 1 })`)).toEqual({ status: "success", payload: { n: 1 } });
    const asked = page.evaluate(`suite.call("r2", "title", { n: 2 })`);
    await page.evaluate(`document.title = "here"`);
    await page.evaluate(`suite.execute()`);
    expect(await asked).toEqual({ status: "success", payload: { title: "here", args: { n: 2 } } });
  });

  it("observes from a cursor, each event once, over connections that break", async () => {
    void page.evaluate(`void suite.observe()`);
    for (let i = 0; i < 5; i++) {
      await page.evaluate(`suite.reconnect()`);
      expect(await page.evaluate(`suite.call("o${i}", "echo", { i: ${i} })`)).toMatchObject({ status: "success" });
    }
    await page.waitForFunction(`suite.seen.length >= 20`);
    const seen = (await page.evaluate(`suite.seen`)) as readonly number[];
    expect(seen).toEqual(seen.map((_, i) => i + 1));
  });

  it("hands a session of its own over: it goes on there, from what was recorded here", async () => {
    const outcome = await page.evaluate(`suite.handOver("${host.url}")`);
    expect(outcome).toEqual({ status: "success", payload: ["tab", "host"] });
  });

  it("follows its own session to where it leaves, and from its first event again when it has come back", async () => {
    const moved = ["scope.opened", "catalog.published", "scope.moving"];
    const before = ["scope.opened", "scope.moving"];
    expect(await page.evaluate(`suite.thereAndBack("${host.url}")`)).toEqual({
      left: [...before, "scope.moved"],
      behind: [],
      back: [...before, "scope.received", ...moved, "scope.received", "scope.opened", "catalog.published"],
    });
  });
});

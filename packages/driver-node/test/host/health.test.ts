/** The health of a host, as load balancers and supervisors ask for it, and a host that drains. */
import { Runtime, defineTool, memoryJournal } from "@pawl/runtime";
import { describe, expect, it } from "vitest";
import { nodePlatform } from "../../src/index.ts";
import { until } from "../until.ts";
import { clientOf, hostOf, roots } from "./rig.ts";
import { echo, payloads, use } from "./tools.ts";

type Told = { readonly url: string };
const asked = async ({ url }: Told, path: string, method = "GET") => {
  const response = await fetch(`${url.replace(/^ws/, "http")}${path}`, { method });
  return { status: response.status, text: await response.text(), headers: response.headers };
};

describe("the health of a host", () => {
  it("is told to anybody: it lives, and it may be sent work", async () => {
    const host = await hostOf([echo]);
    expect(await asked(host, "/v1/health")).toMatchObject({ status: 200, text: '{"status":"ok"}\n' });
    expect(await asked(host, "/v1/ready?probe=1")).toMatchObject({ status: 200, text: '{"status":"ready"}\n' });
    expect(await asked(host, "/v1/ready", "HEAD")).toMatchObject({ status: 200, text: "" });
    const posted = await asked(host, "/v1/ready", "POST");
    expect(posted.status).toBe(405);
    expect(posted.headers.get("allow")).toBe("GET, HEAD");
    expect(posted.text).toContain("/v1/ready is asked by GET, received POST");
    expect((await asked(host, "/v1/readyness")).status).toBe(404);
  });

  it("says no to work without a lease, while it drains and when it is closed; it lives until then", async () => {
    const journal = memoryJournal();
    const isStoreAway = Promise.withResolvers<void>();
    const join: typeof journal.join = async (...of) => {
      await isStoreAway.promise;
      return journal.join(...of);
    };
    const runtime = new Runtime({
      journal: { ...journal, join },
      platform: nodePlatform,
      tools: [echo],
      instance: "a",
      roots,
      lease: { ttlMs: 60_000, address: "ws://a.example" },
    });
    const host = await hostOf([], { runtime });
    expect(await asked(host, "/v1/ready")).toMatchObject({ status: 503, text: '{"status":"no_lease"}\n' });
    expect((await asked(host, "/v1/health")).status).toBe(200);
    isStoreAway.resolve();
    await until(() => runtime.readiness === "ready");
    expect((await asked(host, "/v1/ready")).status).toBe(200);
    await runtime.drain();
    const draining = await asked(host, "/v1/ready");
    expect(draining).toMatchObject({ status: 503, text: '{"status":"draining"}\n' });
    expect(draining.headers.get("retry-after")).toBe("1");
    expect((await asked(host, "/v1/health")).status).toBe(200);
    await runtime.close();
    expect(await asked(host, "/v1/health")).toMatchObject({ status: 503, text: '{"status":"closed"}\n' });
  });
});

describe("a host that drains", () => {
  it("sends its clients to the next host, which answers their open calls: none of them sees an error", async () => {
    const journal = memoryJournal();
    const gate = Promise.withResolvers<void>();
    const ran: number[] = [];
    const slow = defineTool({
      name: "slow",
      durable: true,
      execute: async (_, ctx) => {
        await ctx.run("one", async () => void (ran.push(1), await gate.promise), { recovery: "once" });
        return ctx.run("two", async () => ran.push(2), { recovery: "once" });
      },
    });
    const start = (instance: string) =>
      new Runtime({ journal, platform: nodePlatform, tools: [slow, echo], instance, roots, lease: { ttlMs: 60_000 } });
    const old = await hostOf([], { runtime: start("old") });
    const client = clientOf(old);
    const open = client.session("s").request("r", use("slow"));
    await client.session("idle").request("r", use("echo"));
    await until(() => ran.length === 1);
    const drained = old.runtime.drain(5000);
    gate.resolve();
    await drained;
    await old.close();
    await old.runtime.close();
    const next = await hostOf([], { runtime: start("next"), port: old.port });
    expect(payloads(await open)).toEqual([2]);
    expect(ran).toEqual([1, 2]);
    expect(payloads(await client.session("idle").request("r2", use("echo")))).toEqual([{}]);
    expect(next.connections).toBe(1);
  });
});

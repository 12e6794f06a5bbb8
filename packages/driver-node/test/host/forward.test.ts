/** Hosts that forward: a client of any of them works with the sessions of all. */
import { Runtime, type ToolDefinition, memoryJournal } from "@pawl/runtime";
import { HostRefused } from "@pawl/wire";
import { describe, expect, it } from "vitest";
import { type HostOptions, nodePlatform } from "../../src/index.ts";
import { until } from "../until.ts";
import { clientOf, greeted, hostOf, roots } from "./rig.ts";
import { asked, counted, echo, outside, payloads, use } from "./tools.ts";

const fleet = (tools: readonly ToolDefinition[]) => {
  const journal = memoryJournal();
  return async (instance: string, options: Partial<HostOptions> = {}) => {
    const runtime = new Runtime({ journal, platform: nodePlatform, tools, instance, roots, lease: { ttlMs: 60_000 } });
    return hostOf([], { runtime, forwards: true, ...options });
  };
};

describe("a host that forwards", () => {
  it("answers calls, decisions and resolutions of sessions that another host owns", async () => {
    const { tool, tokens } = outside();
    const start = fleet([echo, asked, tool]);
    const [near, far] = [await start("near"), await start("far")];
    await far.runtime.session("s");
    const session = clientOf(near, { by: "bob" }).session("s");
    expect(payloads(await session.request("r1", use("echo", { a: 1 })))).toEqual([{ a: 1 }]);
    const approved = session.request("r2", use("asked", { amount: 3 }));
    const there = await far.runtime.session("s");
    await until(() => there.state.awaitingApproval === 1);
    const [wanted] = await session.approvals();
    await session.approve(wanted?.call ?? "", { hash: wanted?.hash ?? "" });
    expect(payloads(await approved)).toEqual([6]);
    const open = session.request("r3", use("outside"));
    await until(() => tokens.length === 1);
    await session.resolve(tokens[0] ?? "", { status: "ok", payload: 7 });
    expect(payloads(await open)).toEqual([7]);
    await expect(session.approve("r9:c", { hash: "h" })).rejects.toBeInstanceOf(HostRefused);
    expect(far.connections).toBe(1);
  });

  it("passes on what is observed, in its order, as fast as the client reads it", async () => {
    const start = fleet([echo]);
    const [near, far] = [await start("near"), await start("far")];
    const there = await far.runtime.session("s");
    for (let n = 0; n < 30; n++) await there.request(`r${n}`, use("echo", { n }));
    const { seq } = there.state;
    const cursors: number[] = [];
    for await (const { cursor } of clientOf(near).session("s").observe()) {
      cursors.push(cursor);
      if (cursor >= seq) break;
    }
    expect(cursors).toEqual(Array.from({ length: seq }, (_, i) => i + 1));
  });

  it("goes on with what is open when the owner stops: calls are answered once, and observers see each event once", async () => {
    const { ran, tool } = counted();
    const { tool: waits, tokens } = outside();
    const start = fleet([tool, waits]);
    const [near, far] = [await start("near"), await start("far")];
    await far.runtime.session("s");
    const session = clientOf(near).session("s");
    await session.request("r1", use("counted"));
    const open = session.request("r2", use("outside"));
    const cursors: number[] = [];
    const events = session.observe();
    const reading = (async () => {
      for await (const { cursor } of events) cursors.push(cursor);
    })();
    await until(() => tokens.length === 1 && cursors.length > 3);
    await far.runtime.drain();
    await far.close();
    await far.runtime.close();
    await session.resolve(tokens[0] ?? "", { status: "ok", payload: "late" });
    expect(payloads(await open)).toEqual(["late"]);
    const { seq } = (await near.runtime.session("s")).state;
    await until(() => (cursors.at(-1) ?? 0) >= seq - 1);
    await events.return();
    await reading;
    expect(cursors).toEqual(Array.from({ length: cursors.length }, (_, i) => i + 1));
    expect(ran).toHaveLength(1);
  });

  it("tells the address of an owner that does not take the token, and asks again for one that does not answer", async () => {
    const start = fleet([echo]);
    const near = await start("near");
    const far = await start("far", { secrets: [new Uint8Array(32).fill(3)] });
    await far.runtime.session("s");
    const refused = { code: "owned_by", address: far.url };
    await expect(clientOf(near).session("s").request("r", use("echo"))).rejects.toMatchObject(refused);
    await far.close();
    const answer = await (await greeted(near)).ask({ type: "open", id: 1, scope: "session:s" });
    expect(answer).toMatchObject({ type: "error", code: "scope_lost", retry_after_ms: 1000 });
  });

  it("forwards no question that was forwarded to it, and none without the option", async () => {
    const journal = memoryJournal();
    const start = async (instance: string, address: string | undefined, forwards: boolean) => {
      const lease = { ttlMs: 60_000, ...(address === undefined ? {} : { address }) };
      const runtime = new Runtime({ journal, platform: nodePlatform, tools: [echo], instance, roots, lease });
      return hostOf([], { runtime, forwards });
    };
    const middle = await start("middle", undefined, true);
    const owner = await start("owner", middle.url, true); // Announces the address of another host.
    await owner.runtime.session("s");
    const near = await start("near", undefined, true);
    const answer = await (await greeted(near)).ask({ type: "open", id: 1, scope: "session:s" });
    expect(answer).toMatchObject({ type: "error", code: "scope_lost", retry_after_ms: 100 });
    const plain = await start("plain", undefined, false);
    const told = await (await greeted(plain)).ask({ type: "open", id: 1, scope: "session:s" });
    expect(told).toMatchObject({ type: "error", code: "owned_by", address: middle.url });
  });
});

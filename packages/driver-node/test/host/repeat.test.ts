/** A repeated request whose answer was lost with a connection gets the same answer. */
import { stableHash } from "@pawl/tool-value";
import { type Bounds, Runtime, memoryJournal } from "@pawl/runtime";
import { describe, expect, it } from "vitest";
import { type HostOptions, nodePlatform } from "../../src/index.ts";
import { clientOf, greeted, hostOf, roots, runtimeOf } from "./rig.ts";
import { asked, outside, payloads, use } from "./tools.ts";
import { until } from "../until.ts";

const ok = (payload: unknown) => ({ status: "ok", payload: payload as never }) as const;
const scope = "session:s";
const hash = stableHash({ amount: 1 });

const parked = async (requests: readonly string[]) => {
  const journal = memoryJournal();
  const host = await hostOf([], { runtime: runtimeOf([asked], journal) });
  const client = clientOf(host);
  const session = client.session("s");
  const replies = requests.map((request) => session.request(request, use("asked", { amount: 1 })));
  const live = await host.runtime.session("s");
  await until(() => requests.every((request) => live.state.calls.at(`${request}:c`)?.phase === "awaiting_approval"));
  return { journal, host, client, session, replies };
};

describe("a decision", () => {
  it("is repeated by the client if its answer was lost, and recorded once", async () => {
    const { client, session, replies, host } = await parked(["r"]);
    const decided = session.approve("r:c", { hash });
    client.reconnect();
    await decided;
    expect(payloads(await (replies[0] ?? []))).toEqual([2]);
    const events: unknown[] = [];
    for await (const { event } of clientOf(host).session("s").observe()) {
      if (event.type === "approval.decided") events.push(event.by);
      if (event.type === "reply.acked") break;
    }
    expect(events).toEqual(["ann"]);
  });

  it("gets the same answer after its call has ended, also from another host over the store", async () => {
    const { journal, host, replies } = await parked(["r1", "r2", "r3"]);
    const raw = await greeted(host);
    const approve = { type: "approve", scope, call: "r1:c", hash, decision_id: "d1" };
    const reject = { type: "reject", scope, call: "r2:c", hash, reason: "no", decision_id: "d2" };
    const edit = { type: "approve", scope, call: "r3:c", hash, decision_id: "d3", args: { amount: "x" } };
    expect(await raw.ask({ ...approve, id: 1 })).toMatchObject({ type: "done" });
    expect(await raw.ask({ ...reject, id: 2 })).toMatchObject({ type: "done" });
    expect(await raw.ask({ ...edit, id: 3 })).toMatchObject({ code: "invalid_tool_args" });
    expect(await raw.ask({ ...edit, id: 4, decision_id: "d4", args: { amount: 5 } })).toMatchObject({ type: "done" });
    await Promise.all(replies);
    await host.close();
    const second = await hostOf([], { runtime: runtimeOf([asked], journal, "i2") });
    const again = await greeted(second);
    expect(await again.ask({ ...approve, id: 1 })).toMatchObject({ code: "call_ended" });
    expect(await again.ask({ ...approve, id: 2, again: true })).toMatchObject({ type: "done" });
    expect(await again.ask({ ...reject, id: 3, again: true })).toMatchObject({ type: "done" });
    expect(await again.ask({ ...edit, id: 4, again: true })).toMatchObject({ code: "invalid_tool_args" });
    const accepted = { ...edit, decision_id: "d4", args: { amount: 5 }, again: true };
    expect(await again.ask({ ...accepted, id: 5 })).toMatchObject({ type: "done" });
    expect(await again.ask({ ...approve, id: 6, again: true, decision_id: "other" })).toMatchObject({
      code: "call_ended",
    });
    const bob = await greeted(second, { by: "bob" });
    expect(await bob.ask({ ...approve, id: 1, again: true })).toMatchObject({ code: "call_ended" });
  });

  it("marked as repeated is recorded if it is the first", async () => {
    const { host, replies } = await parked(["r"]);
    const raw = await greeted(host);
    const approve = { type: "approve", id: 1, scope, call: "r:c", hash, decision_id: "d", again: true };
    expect(await raw.ask(approve)).toMatchObject({ type: "done" });
    expect(payloads(await (replies[0] ?? []))).toEqual([2]);
  });
});

describe("a cancel", () => {
  it("is accepted again from the same principal after its target has ended", async () => {
    const { host, replies } = await parked(["r1", "r2"]);
    const raw = await greeted(host);
    const [request, call] = [
      { type: "cancel_request", scope, request: "r1" },
      { type: "cancel_call", scope, call: "r2:c" },
    ];
    expect(await raw.ask({ ...request, id: 1 })).toMatchObject({ type: "done" });
    expect(await raw.ask({ ...call, id: 2 })).toMatchObject({ type: "done" });
    await Promise.all(replies);
    expect(await raw.ask({ ...request, id: 3 })).toMatchObject({ code: "call_ended" });
    expect(await raw.ask({ ...request, id: 4, again: true })).toMatchObject({ type: "done" });
    expect(await raw.ask({ ...call, id: 5, again: true })).toMatchObject({ type: "done" });
    const bob = await greeted(host, { by: "bob" });
    expect(await bob.ask({ ...call, id: 1, again: true })).toMatchObject({ code: "call_ended" });
  });
});

describe("a resolution", () => {
  it("under one id is accepted repeatedly, while its wait lives and after it has left the state", async () => {
    const { tool, tokens } = outside();
    const host = await hostOf([tool]);
    const session = clientOf(host).session("s");
    const replies = session.request("r", use("outside"));
    await until(() => tokens.length === 1);
    const raw = await greeted(host);
    const resolve = { type: "resolve", scope, token: tokens[0], resolution: ok(1), resolution_id: "x" };
    for (const id of [1, 2])
      expect(await raw.ask({ ...resolve, id })).toMatchObject({ outcome: { status: "accepted" } });
    const other = { ...resolve, resolution_id: "y" };
    expect(await raw.ask({ ...other, id: 3 })).toMatchObject({ outcome: { status: "already_resolved" } });
    expect(payloads(await replies)).toEqual([1]);
    expect(await raw.ask({ ...resolve, id: 4 })).toMatchObject({ outcome: { status: "accepted" } });
    expect(await raw.ask({ ...other, id: 5 })).toMatchObject({ outcome: { status: "already_resolved" } });
    const bob = await greeted(host, { by: "bob" });
    expect(await bob.ask({ ...resolve, id: 1 })).toMatchObject({ outcome: { status: "already_resolved" } });
  });

  it("of a client is one, over every reconnection", async () => {
    const { tool, tokens } = outside();
    const host = await hostOf([tool]);
    const client = clientOf(host);
    const replies = client.session("s").request("r", use("outside"));
    await until(() => tokens.length === 1);
    const resolved = client.session("s").resolve(tokens[0] ?? "", ok(1));
    client.reconnect();
    expect(await resolved).toEqual({ status: "accepted" });
    expect(payloads(await replies)).toEqual([1]);
  });
});

/** Waits until postponed requests are repeated. */
const retried = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 1200));

const oneAtATime = async (options: Partial<HostOptions>, bounds: Partial<Bounds> = {}) => {
  const { tool, tokens } = outside();
  const store = { journal: memoryJournal(), platform: nodePlatform, instance: "i1", roots };
  const host = await hostOf([], { runtime: new Runtime({ ...store, tools: [tool], bounds }), ...options });
  const client = clientOf(host, {}, { backoff: { minMs: 1, maxMs: 1 } });
  const session = client.session("s");
  const first = session.request("r1", use("outside"));
  await until(() => tokens.length === 1);
  const resolve = async (token = ""): Promise<unknown> => (await host.runtime.session("s")).resolve(token, ok(1));
  return { client, session, first, tokens, resolve };
};

describe("a postponed request", () => {
  it("is repeated once on the next connection, and not again at its time", async () => {
    const { client, session, first, tokens, resolve } = await oneAtATime({}, { requests: 1 });
    const second = session.request("r2", use("outside")).then(payloads, (thrown: unknown) => thrown);
    await session.open(); // The request is postponed by now.
    await resolve(tokens[0]);
    await first;
    client.reconnect();
    await until(() => tokens.length === 2);
    await retried();
    await resolve(tokens[1]);
    expect(await second).toEqual([1]);
  });

  it("is reported on the next connection, and repeated at its time", async () => {
    const { client, session, first, tokens, resolve } = await oneAtATime({ limits: { maxInFlight: 1 } });
    const seen: string[] = [];
    const over = (async () => {
      for await (const { event } of session.observe()) seen.push(event.type);
    })().catch((thrown: unknown) => thrown);
    await new Promise((put) => setTimeout(put, 100));
    await resolve(tokens[0]);
    await first;
    client.reconnect();
    await until(() => seen.includes("reply.acked"));
    await retried();
    client.close();
    expect(await over).toMatchObject({ code: "client_closed" });
  });
});

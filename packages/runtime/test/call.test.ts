import { runtimeFailure, failureOutput, done, stableHash } from "@pawl/tool-value";
import { describe, expect, it } from "vitest";
import { ToolError, ToolFailed, defineTool } from "../src/index.ts";
import { World } from "./world.ts";

const add = defineTool({
  name: "add",
  execute: (args) => {
    const { a, b } = args as { readonly a: number; readonly b: number };
    return a + b;
  },
});
const refuses = defineTool({
  name: "refuses",
  execute: () => {
    throw new ToolError("not today");
  },
});
const times = defineTool({
  name: "times",
  execute: () => done(failureOutput(runtimeFailure("timeout", "too_slow", "it took too long"))),
});
const pay = defineTool({
  name: "pay",
  needsApproval: true,
  execute: (args) => {
    const { amount } = args as { readonly amount: number };
    return { amount };
  },
});
const sessionOf = async (world = new World()) => world.start([add, refuses, times, pay]).runtime.session("s");

describe("a call of one tool", () => {
  it("has the tool's value, by its definition or by its name", async () => {
    const session = await sessionOf();
    expect(await session.call(add, { a: 1, b: 2 }, { id: "r1" })).toBe(3);
    expect(await session.call("add", { a: 2, b: 2 }, { id: "r2", label: "model-1" })).toBe(4);
    expect(await session.replies("r2")).toMatchObject([{ call: "r2:model-1", tool: "add", label: "model-1" }]);
  });

  it("throws the failure with its class, its code and its own message", async () => {
    const session = await sessionOf();
    const failed = session.call(times, {}, { id: "r" });
    await expect(failed).rejects.toThrow(ToolFailed);
    const fields = { class: "timeout", code: "too_slow", message: "it took too long" };
    await expect(failed).rejects.toMatchObject({ ...fields, reply: { call: "r:1", tool: "times", args: {} } });
    await expect(session.call(refuses, {}, { id: "r2" })).rejects.toMatchObject({ message: "not today" });
  });

  it("that was cancelled throws as cancelled", async () => {
    const session = await sessionOf();
    const cancelled = expect(session.call(pay, { amount: 1 }, { id: "r" })).rejects.toMatchObject({
      name: "ToolFailed",
      class: "cancelled",
      code: "cancelled",
    });
    await session.cancel({ request: "r" });
    await cancelled;
  });

  it("that is made again is answered as it was, also by `result`, and refused with other arguments", async () => {
    const session = await sessionOf();
    await session.call(add, { a: 1, b: 2 }, { id: "r" });
    expect(await session.call(add, { a: 1, b: 2 }, { id: "r" })).toBe(3);
    expect(await session.result("r")).toBe(3);
    const changed = session.call(add, { a: 5, b: 2 }, { id: "r" });
    const message = expect.stringContaining("`calls[0].args.a` was 1, found 5");
    await expect(changed).rejects.toMatchObject({ code: "request_conflict", message });
  });

  it("that is made again while it runs is refused with another tool, which it names", async () => {
    const session = await sessionOf();
    session.call(pay, { amount: 1 }, { id: "r" }).catch(() => undefined);
    const message = expect.stringContaining('`calls[0].tool` was "pay", found "add"');
    await expect(session.call(add, { amount: 1 }, { id: "r" })).rejects.toMatchObject({ message });
  });

  it("of a request with several has no one result", async () => {
    const session = await sessionOf();
    const call = { tool: "add", args: { a: 1, b: 1 } };
    await session.request("r", [call, call]);
    await expect(session.result("r")).rejects.toMatchObject({
      code: "not_one_call",
      message: expect.stringContaining("2"),
    });
  });
});

const asked = async () => {
  const world = new World();
  const session = await world.start([pay]).runtime.session("s");
  const reply = session.call(pay, { amount: 5 }, { id: "r" });
  await world.quiet();
  return { session, reply };
};

describe("a call that waits for approval", () => {
  it("is approved by what the list gives, with the hash that was seen", async () => {
    const { session, reply } = await asked();
    const [approval] = await session.approvals();
    expect(approval).toMatchObject({ call: "r:1", tool: "pay", label: "1", hash: stableHash({ amount: 5 }) });
    await approval?.approve({ by: "ann" });
    expect(await reply).toEqual({ amount: 5 });
    expect(await session.approvals()).toEqual([]);
  });

  it("tells observers that it is decided, by whom and with which arguments, before it runs", async () => {
    const { session, reply } = await asked();
    const seen: string[] = [];
    const watching = (async () => {
      for await (const frame of session.observe({ from: { scope: "session:s", seq: 0, index: 0 } })) {
        if (frame.type !== "observed") continue;
        const { observation } = frame;
        if (observation.type === "call_parked") seen.push(`parked ${observation.call}`);
        if (observation.type === "call_started" || observation.type === "call_completed") seen.push(observation.type);
        if (observation.type === "call_decided")
          seen.push(
            `${observation.decision} ${observation.call} ${JSON.stringify(observation.args)} by ${observation.by}`,
          );
        if (seen.at(-1) === "call_completed") return;
      }
    })();
    for (const one of await session.approvals()) await one.approve({ by: "ann", args: { amount: 3 } });
    await reply;
    await watching;
    const decided = 'approved r:1 {"amount":3} by ann';
    expect(seen).toEqual(["call_started", "parked r:1", decided, "call_completed"]);
  });

  it("is approved with other arguments, or rejected with a reason", async () => {
    const edited = await asked();
    for (const one of await edited.session.approvals()) await one.approve({ by: "ann", args: { amount: 3 } });
    expect(await edited.reply).toEqual({ amount: 3 });
    const refused = await asked();
    for (const one of await refused.session.approvals()) await one.reject({ by: "ann", reason: "too much" });
    await expect(refused.reply).rejects.toMatchObject({ code: "approval_rejected", message: "too much" });
  });

  it("is not approved by a list of which somebody has edited a call meanwhile", async () => {
    const { session, reply } = await asked();
    const [stale] = await session.approvals();
    const refused = expect(reply).rejects.toThrow("no");
    await session.reject("r:1", { by: "bob", reason: "no", hash: stableHash({ amount: 5 }) });
    await expect(stale?.approve({ by: "ann" })).rejects.toMatchObject({ code: "call_ended" });
    await refused;
  });
});

const waits = (tokens: string[]) =>
  defineTool({
    name: "waits",
    durable: true,
    execute: async (_, ctx) => {
      tokens.push(ctx.token("paid"));
      return ctx.waitFor("paid");
    },
  });

describe("a token", () => {
  it("is resolved at the runtime, which finds its session also after a restart", async () => {
    const world = new World();
    const tokens: string[] = [];
    const first = world.start([waits(tokens)]);
    void (await first.runtime.session("s")).call("waits", {}, { id: "r" }).catch(() => undefined);
    await world.quiet();
    first.kill();
    const { runtime } = world.start([waits(tokens)]);
    const [token = ""] = tokens;
    expect(await runtime.resolve(token, { status: "ok", payload: 7 })).toEqual({ status: "accepted" });
    expect(await (await runtime.session("s")).result("r")).toBe(7);
    expect(await runtime.resolve(token, { status: "ok", payload: 8 })).toMatchObject({ status: "already_resolved" });
  });

  it("that was changed, or names another scope, opens nothing and resolves nothing", async () => {
    const world = new World();
    const tokens: string[] = [];
    const first = world.start([waits(tokens)]);
    void (await first.runtime.session("s")).call("waits", {}, { id: "r" }).catch(() => undefined);
    await world.quiet();
    first.kill();
    const { runtime } = world.start([waits(tokens)]);
    const parts = (tokens[0] ?? "").split(".");
    const ofAnother = parts.with(5, btoa("session:t").replaceAll("=", "")).join(".");
    const forged = parts.with(6, "0".repeat(64)).join(".");
    for (const token of [ofAnother, forged, "v3.x", "", "v3.k.i.c.l.!.s"])
      expect(await runtime.resolve(token, { status: "ok", payload: 7 })).toEqual({ status: "unknown_or_revoked" });
    expect(runtime.inMemory).toBe(0);
  });
});

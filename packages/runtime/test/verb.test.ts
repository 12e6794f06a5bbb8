import { pending, stableHash } from "@pawl/tool-value";
import { describe, expect, it } from "vitest";
import { type Session, defineTool } from "../src/index.ts";
import { tokenOf } from "../src/driver.ts";
import { World, roots } from "./world.ts";
import { payloads } from "./words.ts";

const ok = (payload: unknown) => ({ status: "ok", payload: payload as never }) as const;
const calls = (tool: string, args: object = {}) => [{ label: "c", tool, args: args as never }];

/** A tool that completes from outside, and the token that it gave away. */
const outside = (deadlineSecs?: number) => {
  const tokens: string[] = [];
  const tool = defineTool({
    name: "outside",
    execute: (_, ctx) => {
      tokens.push(ctx.completionKey());
      const deadline = deadlineSecs === undefined ? {} : { deadline: { secs: deadlineSecs, nanos: 0 } };
      return pending({ on_cancel: "ignore", ...deadline });
    },
  });
  return { tool, token: () => tokens[0] ?? "" };
};
const keyOf = (token: string): string => token.split(".")[2] ?? "";

const started = async (tool: ReturnType<typeof defineTool>, request = "r") => {
  const world = new World();
  const process = world.start([tool]);
  const session = await process.runtime.session("s");
  const replies = session.request(request, calls(tool.name));
  await world.quiet();
  return { world, process, session, replies };
};

const events = async (world: World): Promise<readonly Record<string, unknown>[]> =>
  (await world.journal.read("session:s", 1)).map(
    ({ line }) => (JSON.parse(line) as { readonly event: Record<string, unknown> }).event,
  );

describe("a resolution", () => {
  it("is accepted once; whoever comes later is told the winner, also when the request is long gone", async () => {
    const { tool, token } = outside();
    const { session, replies, world } = await started(tool);
    expect(await session.resolve(token(), ok(1), "ann")).toEqual({ status: "accepted" });
    expect(await session.resolve(token(), ok(2))).toEqual({ status: "already_resolved", terminal: ok(1) });
    expect(payloads(await replies)).toEqual([1]);
    await world.quiet();
    expect(session.state.waits.at(keyOf(token()))).toBeUndefined();
    expect(await session.resolve(token(), ok(3))).toEqual({ status: "already_resolved", terminal: ok(1) });
    const resolved = (await events(world)).filter(({ type }) => type === "wait.resolved");
    expect(resolved).toMatchObject([{ by: "ann" }]);
  });

  it("comes too late after a timeout and after a cancel, and is told so", async () => {
    const timed = outside(5);
    const first = await started(timed.tool);
    first.world.platform.advance(5000);
    await first.replies;
    await first.world.quiet();
    const timeout = { status: "already_resolved", terminal: { status: "timeout" } };
    expect(await first.session.resolve(timed.token(), ok(1))).toEqual(timeout);

    const left = outside();
    const second = await started(left.tool);
    await second.session.cancel({ request: "r" }, "ann");
    await second.replies;
    await second.world.quiet();
    const cancelled = { status: "already_resolved", terminal: { status: "cancelled" } };
    expect(await second.session.resolve(left.token(), ok(1))).toEqual(cancelled);
  });

  it("that comes in the very moment in which the time is over is told of the timeout", async () => {
    const { tool, token } = outside(5);
    const { session, world } = await started(tool);
    // The platform's clock goes on without its timers.
    const at = world.platform.now();
    world.platform.now = () => at + 5000;
    const outcome = await session.resolve(token(), ok(1));
    expect(outcome).toEqual({ status: "already_resolved", terminal: { status: "timeout" } });
  });

  it("under a forged token, or one of another scope, is unknown", async () => {
    const { tool, token } = outside();
    const { session } = await started(tool);
    const unknown = { status: "unknown_or_revoked" };
    for (const forged of ["", "v1", `${token().slice(0, -1)}_`, tokenOf(roots, "session:other", keyOf(token()))])
      expect(await session.resolve(forged, ok(1))).toEqual(unknown);
    expect(await session.resolve(token(), ok(1))).toEqual({ status: "accepted" });
  });

  it("may come before anybody waits, as often as the option says", async () => {
    const world = new World();
    const session = await world.start([], { options: { maxUnclaimed: 1 } }).runtime.session("s");
    const [first = "", second = ""] = ["k1", "k2"].map((key) => tokenOf(roots, "session:s", key));
    expect(await session.resolve(first, ok(1))).toEqual({ status: "accepted" });
    expect(await session.resolve(second, ok(1))).toEqual({ status: "too_many_unclaimed" });
  });

  it("by an operator is recorded under a name, and takes only a key that is known", async () => {
    const { tool, token } = outside();
    const { session, replies, world } = await started(tool);
    expect(await session.resolveById("no-such-key", ok(1), "ops")).toEqual({ status: "unknown_or_revoked" });
    expect(await session.resolveById(keyOf(token()), ok(7), "ops")).toEqual({ status: "accepted" });
    expect(payloads(await replies)).toEqual([7]);
    expect((await events(world)).filter(({ type }) => type === "wait.resolved")).toMatchObject([{ by: "ops" }]);
    expect(await session.resolveById(keyOf(token()), ok(8), "ops")).toMatchObject({ status: "already_resolved" });
  });

  it("is revoked with its key, also when the request is long gone", async () => {
    const { tool, token } = outside();
    const { session, replies, world } = await started(tool);
    await session.report({ type: "wait.revoked", keys: [keyOf(token())] });
    expect(await session.resolve(token(), ok(1))).toEqual({ status: "unknown_or_revoked" });
    await replies;
    await world.quiet();
    expect(await session.resolve(token(), ok(1))).toEqual({ status: "unknown_or_revoked" });
  });

  it("is not answered before it is durable", async () => {
    const { tool, token } = outside();
    const { session, process, world } = await started(tool);
    process.kill();
    let answered = false;
    void session.resolve(token(), ok(1)).then(() => (answered = true));
    await world.quiet();
    expect(answered).toBe(false);
  });

  it("that is no resolution is refused, with the place", async () => {
    const { tool, token } = outside();
    const { session } = await started(tool);
    const bad = session.resolve(token(), { status: "err", payload: { code: 7 } } as never);
    await expect(bad).rejects.toMatchObject({ code: "invalid_argument", message: expect.stringContaining("code") });
  });
});

const asked = defineTool<{ readonly amount: number }>({
  name: "asked",
  needsApproval: true,
  inputSchema: { type: "object", properties: { amount: { type: "number" } }, required: ["amount"] },
  execute: ({ amount }) => amount * 2,
});
const parked = async (requests: readonly string[] = ["r"]) => {
  const world = new World();
  const session = await world.start([asked]).runtime.session("s");
  const replies = requests.map((request) => session.request(request, calls("asked", { amount: 1 })));
  await world.quiet();
  return { world, session, replies };
};
const hash = stableHash({ amount: 1 });
const phaseOf = (session: Session, call: string) => session.state.calls.at(call)?.phase;

describe("a decision", () => {
  it("approves what its decider saw, and nothing else", async () => {
    const { session, replies, world } = await parked();
    const stale = session.approve("r:c", { hash: stableHash({ amount: 2 }), by: "ann" });
    await expect(stale).rejects.toMatchObject({ code: "stale_decision" });
    await session.approve("r:c", { hash, by: "ann" });
    expect(payloads(await replies[0]!)).toEqual([2]);
    expect((await events(world)).filter(({ type }) => type === "approval.decided")).toMatchObject([{ by: "ann" }]);
    await world.quiet();
    await expect(session.approve("r:c", { hash, by: "ann" })).rejects.toMatchObject({ code: "call_ended" });
    await expect(session.approve("r:x", { hash, by: "ann" })).rejects.toMatchObject({ code: "call_unknown" });
  });

  it("with edited arguments holds if these pass the check; else it is refused, and the call stays parked", async () => {
    const { session, replies } = await parked();
    const bad = session.approve("r:c", { hash, args: { amount: "all" }, by: "ann" });
    await expect(bad).rejects.toMatchObject({ code: "invalid_tool_args" });
    expect(phaseOf(session, "r:c")).toBe("awaiting_approval");
    await session.approve("r:c", { hash, args: { amount: 21 }, by: "ann" });
    expect(payloads(await replies[0]!)).toEqual([42]);
  });

  it("rejects with a reason", async () => {
    const { session, replies } = await parked();
    await session.reject("r:c", { hash, reason: "too much", by: "ann" });
    expect(payloads(await replies[0]!)).toMatchObject([{ message: expect.stringContaining("too much") }]);
  });

  it("that is sticky holds for later calls, and for parked ones only on request", async () => {
    const { session, replies, world } = await parked(["r1", "r2", "r3"]);
    await session.approve("r1:c", { hash, sticky: "later", by: "ann" });
    expect(payloads(await session.request("r4", calls("asked", { amount: 5 })))).toEqual([10]);
    await world.quiet();
    expect(phaseOf(session, "r2:c")).toBe("awaiting_approval");
    await session.approve("r2:c", { hash, sticky: "parked_too", by: "ann" });
    expect(payloads(await replies[2]!)).toEqual([2]);
  });
});

describe("a cancel", () => {
  it("ends a request or one call, and comes too late for what has ended", async () => {
    const { session, replies, world } = await parked(["r1", "r2"]);
    await session.cancel({ request: "r1" }, "ann");
    await session.cancel({ call: "r2:c" }, "ann");
    const outcomes = (await Promise.all(replies)).map(([reply]) => reply?.output.outcome.status);
    expect(outcomes).toEqual(["cancelled", "cancelled"]);
    await world.quiet();
    const told = (await events(world)).filter(({ type }) => String(type).endsWith(".cancelled"));
    expect(told).toMatchObject([{ by: "ann" }, { by: "ann" }]);
    await expect(session.cancel({ request: "r1" })).rejects.toMatchObject({ code: "call_ended" });
    await expect(session.cancel({ call: "r2:c" })).rejects.toMatchObject({ code: "call_ended" });
    for (const target of [{ request: "r1" }, { call: "r2:c" }]) {
      await session.cancel(target, "ann", true); // Its answer was lost: it is told once more.
      await expect(session.cancel(target, "bob", true)).rejects.toMatchObject({ code: "call_ended" });
    }
    await expect(session.cancel({ request: "r9" })).rejects.toMatchObject({ code: "request_unknown" });
    await expect(session.cancel({ call: "r9:c" })).rejects.toMatchObject({ code: "call_unknown" });
  });
});

const counted = () => {
  let runs = 0;
  const tool = defineTool({ name: "counted", durable: true, execute: () => (runs += 1) });
  return { tool, runs: () => runs };
};

describe("a request", () => {
  it("that is submitted again is joined, and refused under another body", async () => {
    const world = new World();
    const { tool, runs } = counted();
    const session = await world.start([tool]).runtime.session("s");
    const both = await Promise.all([session.request("r", calls("counted")), session.request("r", calls("counted"))]);
    expect(both.map(payloads)).toEqual([[1], [1]]);
    await world.quiet();
    expect(payloads(await session.request("r", calls("counted")))).toEqual([1]);
    expect(payloads(await session.replies("r"))).toEqual([1]);
    expect(runs()).toBe(1);
    const other = session.request("r", calls("counted", { other: true }));
    await expect(other).rejects.toMatchObject({ code: "request_conflict" });
    const live = session.request("live", calls("counted"));
    const elsewhere = session.request("live", calls("counted"), { executionScope: "turn" });
    await expect(elsewhere).rejects.toMatchObject({ code: "request_conflict" });
    await live;
  });

  it("keeps its replies until they are acknowledged, over a crash", async () => {
    const world = new World();
    const { tool, runs } = counted();
    const first = world.start([tool]);
    await (await first.runtime.session("s")).request("r", calls("counted"), { keep: true, by: "ann" });
    await world.quiet();
    first.kill();
    const session = await world.start([tool]).runtime.session("s");
    expect(session.state.requests.at("r")?.phase).toBe("replying");
    expect(payloads(await session.replies("r", { keep: true }))).toEqual([1]);
    expect(payloads(await session.request("r", calls("counted"), { keep: true }))).toEqual([1]);
    await session.acknowledge("r");
    await session.acknowledge("r");
    expect(session.state.requests.at("r")).toBeUndefined();
    await expect(session.acknowledge("x")).rejects.toMatchObject({ code: "request_unknown" });
    await expect(session.replies("x")).rejects.toMatchObject({ code: "request_unknown" });
    expect(runs()).toBe(1);
    expect((await events(world)).find(({ type }) => type === "request.submitted")).toMatchObject({ by: "ann" });
  });

  it("is not run again where it finishes while the index is asked", async () => {
    const world = new World();
    const { tool, runs } = counted();
    const slow: (() => void)[] = [];
    const find = world.journal.find;
    const session = await world.start([tool]).runtime.session("s");
    await session.request("r", calls("counted"), { keep: true });
    let isSlow = true;
    Object.assign(world.journal, {
      find: async (...of: Parameters<typeof find>) => {
        const found = await find(...of);
        if (isSlow) await new Promise<void>((go) => slow.push(go));
        return found;
      },
    });
    const process = world.start([tool]);
    const reopened = await process.runtime.session("s");
    const fresh = reopened.replies("r2").catch((thrown: unknown) => thrown);
    await world.quiet();
    isSlow = false;
    await reopened.request("r2", calls("counted"));
    await world.quiet();
    for (const go of slow) go();
    expect(payloads((await fresh) as never)).toEqual([2]);
    expect(runs()).toBe(2);
  });

  it("whose calls are no calls is refused, with the place", async () => {
    const session = await new World().start([]).runtime.session("s");
    const bad = session.request("r", [{ label: 7 }] as never);
    await expect(bad).rejects.toMatchObject({
      code: "invalid_argument",
      message: expect.stringContaining("[0].label"),
    });
    const misspelt = session.request("r", [{ lable: "c", tool: "t", args: {} }] as never);
    await expect(misspelt).rejects.toMatchObject({ message: expect.stringContaining("`calls[0].lable` is no option") });
  });
});

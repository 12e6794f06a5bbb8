/** Tests what calls live through in a runtime: batches of bodies, retries, approvals, cancels, hidden state of none. */
import { callRef } from "@pawl/sansio-core";
import { failureOutput, done, safeRetryFailure, stableHash } from "@pawl/tool-value";
import { describe, expect, it } from "vitest";
import { type ToolContext, type ToolDefinition, defineTool } from "../src/index.ts";
import { World } from "./world.ts";
import { call, payloads } from "./words.ts";

const open = async (...tools: readonly ToolDefinition[]) => {
  const world = new World();
  return { world, session: await world.start(tools).runtime.session("s") };
};

describe("a batch that a body makes", () => {
  it("runs its calls and hands their replies back in order", async () => {
    const twice = defineTool<{ readonly n: number }>({ name: "twice", durable: true, execute: ({ n }) => n * 2 });
    const sum = defineTool({
      name: "sum",
      durable: true,
      execute: async (_, ctx) => {
        const replies = await ctx.callAll([1, 2, 3].map((n) => ({ label: `x${n}`, tool: "twice", args: { n } })));
        return replies.map(({ output }) => output.outcome.payload as number).reduce((a, b) => a + b, 0);
      },
    });
    const { session } = await open(twice, sum);
    expect(payloads(await session.request("r", call("sum")))).toEqual([12]);
  });
});

describe("a call that fails safely", () => {
  it("is tried again after its delay, with the steps that succeeded answered from the log", async () => {
    const tries: string[] = [];
    const flaky = defineTool({
      name: "flaky",
      durable: true,
      retry: { attempts: 3, firstDelayMs: 1000, maxDelayMs: 0 },
      execute: async (_, ctx) => {
        const paid = await ctx.run("pay", () => (tries.push("pay"), "paid"));
        tries.push(`attempt ${ctx.attempt}`);
        if (ctx.attempt < 3) return done(failureOutput(safeRetryFailure("external", "busy", "try later")));
        return paid;
      },
    });
    const { world, session } = await open(flaky);
    const replies = session.request("r", call("flaky"));
    for (const ms of [1000, 2000]) {
      await world.quiet();
      world.platform.advance(ms);
    }
    expect(payloads(await replies)).toEqual(["paid"]);
    expect(tries).toEqual(["pay", "attempt 1", "attempt 2", "attempt 3"]);
  });
});

describe("a cancel", () => {
  it.each([[["go", "cancel"]], [["cancel", "go"]]])("is heard in its place among the answers: %s", async (said) => {
    const heard: string[] = [];
    const waits = defineTool({
      name: "waits",
      durable: true,
      execute: async (_, ctx) => {
        ctx.signal.addEventListener("abort", () => heard.push("cancel"));
        await ctx.waitFor("go").then(
          () => heard.push("go"),
          () => undefined,
        );
        await new Promise(() => undefined);
      },
    });
    const { world, session } = await open(waits);
    session.request("r", call("waits")).catch(() => undefined);
    await world.quiet();
    const key = session.state.waits.rows()[0]?.key ?? "";
    const events = {
      go: { type: "wait.resolved", key, resolution: { status: "ok", payload: 1 } },
      cancel: { type: "call.cancelled", call: callRef("r", "c1") },
    } as const;
    for (const what of said) void session.report(events[what as "go"]);
    await world.quiet();
    expect(heard).toEqual(said);
  });
});

describe("a tool that needs an approval", () => {
  it("waits for a person's word, and runs with the arguments that were edited", async () => {
    const remove = defineTool<{ readonly path: string }>({
      name: "remove",
      durable: true,
      needsApproval: true,
      inputSchema: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
      execute: ({ path }) => `removed ${path}`,
    });
    const { world, session } = await open(remove);
    const replies = session.request("r", call("remove", { path: "/" }));
    await world.quiet();
    const decide = (args: object) =>
      session.report({
        type: "approval.decided",
        call: callRef("r", "c1"),
        decision: { type: "approve_edited", args: args as never },
        args_hash: stableHash({ path: "/" }),
        by: "alice",
      });
    await decide({ path: 7 });
    await world.quiet();
    expect(session.state.calls.at("r:c1")?.phase).toBe("awaiting_approval");
    await decide({ path: "/tmp/x" });
    expect(payloads(await replies)).toEqual(["removed /tmp/x"]);
  });
});

describe("a request that is cancelled", () => {
  it("tells its bodies, and keeps the outcome of one that finishes within its grace", async () => {
    const polite = defineTool({
      name: "polite",
      durable: true,
      execute: (_, ctx) => new Promise((resolve) => ctx.signal.addEventListener("abort", () => resolve("tidied up"))),
    });
    const { world, session } = await open(polite);
    const replies = session.request("r", call("polite"));
    await world.quiet();
    await session.report({ type: "request.cancelled", request: "r" });
    expect(payloads(await replies)).toEqual(["tidied up"]);
  });
  it("ends a body that does not listen when its grace is over", async () => {
    const deaf = defineTool({ name: "deaf", durable: true, execute: () => new Promise(() => undefined) });
    const { world, session } = await open(deaf);
    const replies = session.request("r", call("deaf"));
    await world.quiet();
    await session.report({ type: "request.cancelled", request: "r" });
    await world.quiet();
    world.platform.advance(50);
    expect(payloads(await replies)).toMatchObject([{ message: "tool call cancelled" }]);
  });

  it("shows observers what a body came to after its grace, while others of its request go on", async () => {
    const slow = defineTool({
      name: "slow",
      durable: true,
      execute: () => new Promise((resolve) => void world.platform.later(200, () => resolve("late"))),
    });
    const cleans = defineTool({
      name: "cleans",
      durable: true,
      execute: (_, ctx) => {
        ctx.onCancel(() => new Promise((resolve) => void world.platform.later(500, () => resolve(undefined))));
        return new Promise(() => undefined);
      },
    });
    const world = new World();
    const seen: unknown[] = [];
    const host = {
      observe: (_: string, { what, call_id, output }: { what: string; call_id: string; output?: unknown }) =>
        void (what === "call_settled_late" && seen.push([call_id, output])),
    };
    const session = await world.start([slow, cleans], { host }).runtime.session("s");
    const replies = session.request("r", [
      { label: "a", tool: "slow", args: {} },
      { label: "b", tool: "cleans", args: {} },
    ]);
    await world.quiet();
    await session.cancel({ request: "r" });
    for (let i = 0; i < 8; i++) {
      await world.quiet();
      world.platform.advance(100);
    }
    expect(payloads(await replies)[0]).toMatchObject({ message: "tool call cancelled" });
    expect(seen).toEqual([["a", { outcome: { status: "success", payload: "late" } }]]);
  });
});

describe("a cancel", () => {
  it.each(["r:c1", 7, null, undefined])("of %j says what it was given, and what it takes", async (target) => {
    const { session } = await open();
    await expect(session.cancel(target as never)).rejects.toMatchObject({
      name: "Refused",
      code: "invalid_argument",
      message: `\`cancel\`: expected { call } or { request }, found ${JSON.stringify(target)}`,
    });
  });
});

/** A tool that gives its key away, and goes on. */
const asks = (recovery?: "externally_owned"): { readonly tool: ToolDefinition; readonly tokens: string[] } => {
  const tokens: string[] = [];
  const execute: ToolDefinition["execute"] = (_, ctx) => {
    tokens.push(ctx.completionKey());
    return new Promise(() => undefined);
  };
  const how = recovery === undefined ? { durable: true } : { recovery };
  return { tool: defineTool({ name: "t", ...how, execute }), tokens };
};

describe("the context of an attempt that is over", () => {
  it("begins nothing anew: the attempt after it goes on", async () => {
    const contexts: ToolContext[] = [];
    const t = defineTool({
      name: "t",
      durable: true,
      retry: { attempts: 2, firstDelayMs: 0, maxDelayMs: 0 },
      execute: async (_, ctx) => {
        contexts.push(ctx);
        if (ctx.attempt === 1) return done(failureOutput(safeRetryFailure("external", "busy", "later")));
        return ctx.waitFor("go");
      },
    });
    const { world, session } = await open(t);
    const replies = session.request("r", call("t"));
    await world.quiet();
    const [first, second] = contexts;
    await expect(first?.continueAs({})).rejects.toMatchObject({ code: "call_ended" });
    await expect(first?.run("a", () => 1, { input: null })).rejects.toMatchObject({ code: "call_ended" });
    await session.resolve(second?.token("go") as string, { status: "ok", payload: "gone" });
    expect(payloads(await replies)).toEqual(["gone"]);
  });
});

describe("a call whose key the outside was given", () => {
  it("is parked on it when its owner is lost, where it completes from outside", async () => {
    const { tool, tokens } = asks("externally_owned");
    const world = new World();
    const first = world.start([tool]);
    const calls = call("t");
    void (await first.runtime.session("s")).request("r", calls).catch(() => undefined);
    await world.quiet();
    first.kill();
    const session = await world.start([tool]).runtime.session("s");
    const replies = session.request("r", calls);
    await world.quiet();
    expect(tokens).toHaveLength(1);
    await session.resolve(tokens[0] as string, { status: "ok", payload: "from outside" });
    expect(payloads(await replies)).toEqual(["from outside"]);
  });

  it("has an unknown outcome when its owner is lost before the tool began", async () => {
    const { tool, tokens } = asks("externally_owned");
    const world = new World();
    const first = world.start([tool], { death: { append: 3, when: "before" } });
    const calls = call("t");
    void (await first.runtime.session("s")).request("r", calls).catch(() => undefined);
    await world.quiet();
    const [reply] = await (await world.start([tool]).runtime.session("s")).request("r", calls);
    expect([reply?.output.outcome.payload, tokens]).toMatchObject([{ code: "tool_outcome_unknown" }, []]);
  });

  it("ends with the key when it is cancelled: the outside comes too late", async () => {
    const { tool, tokens } = asks();
    const { world, session } = await open(tool);
    const replies = session.request("r", call("t"));
    await world.quiet();
    await session.cancel({ request: "r" });
    world.platform.advance(50);
    expect(payloads(await replies)).toMatchObject([{ message: "tool call cancelled" }]);
    const late = await session.resolve(tokens[0] as string, { status: "ok", payload: "late" });
    expect(late).toEqual({ status: "already_resolved", terminal: { status: "cancelled" } });
  });

  it("gives out no key, and keeps no bytes, any more once it is over", async () => {
    let context: ToolContext | undefined;
    const keeps = defineTool({ name: "t", durable: true, execute: (_, ctx) => void (context = ctx) });
    const { session } = await open(keeps);
    await session.request("r", call("t"));
    const over = expect.objectContaining({ code: "call_ended" });
    expect(() => context?.completionKey()).toThrow(over);
    expect(() => context?.token("go")).toThrow(over);
    await expect(context?.attachments.put(new Uint8Array(1), { media_type: "text/plain" } as never)).rejects.toEqual(
      over,
    );
  });
});

describe("arguments that do not fit", () => {
  it("end the call before its tool is asked, and say where", async () => {
    const strict = defineTool({
      name: "strict",
      inputSchema: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] },
      execute: () => "never",
    });
    const { session } = await open(strict);
    const [payload] = payloads(await session.request("r", call("strict", { n: "one" })));
    expect(payload).toMatchObject({ class: "invalid_request", code: "invalid_tool_args" });
    expect((payload as { readonly message: string }).message).toMatch(/^arguments\.n: /);
  });
});

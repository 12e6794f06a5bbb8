/** What calls live through in a runtime: batches of bodies, retries, approvals, cancels, hidden state of none. */
import { callRef } from "@pawl/sansio-core";
import { failureOutput, done, safeRetryFailure, stableHash } from "@pawl/tool-value";
import { describe, expect, it } from "vitest";
import { type ToolDefinition, defineTool } from "../src/index.ts";
import { World } from "./world.ts";

const open = async (...tools: readonly ToolDefinition[]) => {
  const world = new World();
  return { world, session: await world.start(tools).runtime.session("s") };
};
const call = (tool: string, args: object = {}) => [{ id: "c1", tool, args: args as never }];
const payloads = (replies: readonly { readonly output: { readonly outcome: { readonly payload: unknown } } }[]) =>
  replies.map(({ output }) => output.outcome.payload);

describe("a batch that a body makes", () => {
  it("runs its calls and hands their replies back in order", async () => {
    const twice = defineTool<{ readonly n: number }>({ name: "twice", durable: true, execute: ({ n }) => n * 2 });
    const sum = defineTool({
      name: "sum",
      durable: true,
      execute: async (_, ctx) => {
        const replies = await ctx.batch([1, 2, 3].map((n) => ({ id: `x${n}`, toolId: "tool:twice", args: { n } })));
        return replies.map(({ output }) => output.outcome.payload as number).reduce((a, b) => a + b, 0);
      },
    });
    const { session } = await open(twice, sum);
    expect(payloads(await session.call("r", call("sum")))).toEqual([12]);
  });
});

describe("a call that fails safely", () => {
  it("is tried again after its delay, with the steps that succeeded answered from the log", async () => {
    const tries: string[] = [];
    const flaky = defineTool({
      name: "flaky",
      durable: true,
      retry_policy: { type: "safe", max_attempts: 3, base_delay_ms: 1000, max_delay_ms: 0 },
      execute: async (_, ctx) => {
        const paid = await ctx.runJson("pay", {}, () => (tries.push("pay"), "paid"));
        tries.push(`attempt ${ctx.attempt}`);
        if (ctx.attempt < 3) return done(failureOutput(safeRetryFailure("external", "busy", "try later")));
        return paid;
      },
    });
    const { world, session } = await open(flaky);
    const replies = session.call("r", call("flaky"));
    for (const ms of [1000, 2000]) {
      await world.quiet();
      world.platform.advance(ms);
    }
    expect(payloads(await replies)).toEqual(["paid"]);
    expect(tries).toEqual(["pay", "attempt 1", "attempt 2", "attempt 3"]);
  });
});

describe("a tool that needs an approval", () => {
  it("waits for a person's word, and runs with the arguments that were edited", async () => {
    const remove = defineTool<{ readonly path: string }>({
      name: "remove",
      durable: true,
      policy: "requires_approval",
      parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
      execute: ({ path }) => `removed ${path}`,
    });
    const { world, session } = await open(remove);
    const replies = session.call("r", call("remove", { path: "/" }));
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
    const replies = session.call("r", call("polite"));
    await world.quiet();
    await session.report({ type: "request.cancelled", request: "r" });
    expect(payloads(await replies)).toEqual(["tidied up"]);
  });
  it("ends a body that does not listen when its grace is over", async () => {
    const deaf = defineTool({ name: "deaf", durable: true, execute: () => new Promise(() => undefined) });
    const { world, session } = await open(deaf);
    const replies = session.call("r", call("deaf"));
    await world.quiet();
    await session.report({ type: "request.cancelled", request: "r" });
    await world.quiet();
    world.platform.advance(50);
    expect(payloads(await replies)).toMatchObject([{ message: "tool call cancelled" }]);
  });
});

describe("arguments that do not fit", () => {
  it("end the call before its tool is asked, and say where", async () => {
    const strict = defineTool({
      name: "strict",
      parameters: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] },
      execute: () => "never",
    });
    const { session } = await open(strict);
    const [payload] = payloads(await session.call("r", call("strict", { n: "one" })));
    expect(payload).toMatchObject({ class: "invalid_request", code: "invalid_tool_args" });
    expect((payload as { readonly message: string }).message).toMatch(/^arguments\.n: /);
  });
});

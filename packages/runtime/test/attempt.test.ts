/** Tests what a later attempt asks for, and what becomes of it when that attempt starts again. */
import { done, failureOutput, safeRetryFailure } from "@pawl/tool-value";
import { describe, expect, it } from "vitest";
import { type ToolContext, defineTool } from "../src/index.ts";
import { World } from "./world.ts";

const calls = [{ label: "c1", tool: "tries", args: {} }];
const again = done(failureOutput(safeRetryFailure("external", "busy", "busy")));

/** A tool that is tried twice. */
const tries = (first: (ctx: ToolContext) => Promise<unknown>, second: (ctx: ToolContext) => Promise<unknown>) =>
  defineTool({
    name: "tries",
    durable: true,
    onDivergence: "fail",
    retry: { attempts: 2, firstDelayMs: 0, maxDelayMs: 0 },
    execute: async (_, ctx) => {
      if (ctx.attempt > 1) return second(ctx);
      await first(ctx);
      return again;
    },
  });
const step = (ctx: ToolContext, id: string) => ctx.run(id, () => id);
const stepA = (ctx: ToolContext) => step(ctx, "a");
const pay = (ctx: ToolContext) => ctx.run("pay", () => new Promise<string>(() => undefined), { recovery: "once" });
const schedule = (ctx: ToolContext) =>
  ctx.schedules.create({ description: "d", scheduled_at: 1_800_000_000_000, timezone: "UTC" });

/** The second attempt of one program waits for a word from outside, and another process goes on with it. */
const goneOn = async (before: ReturnType<typeof tries>, after = before, protocol?: number) => {
  const world = new World(protocol);
  const one = world.start([before]);
  void (await one.runtime.session("s")).request("r", calls).catch(() => undefined);
  await world.quiet();
  one.kill();
  const session = await world.start([after]).runtime.session("s");
  let payload: unknown = "nothing yet";
  void session.request("r", calls).then(([reply]) => (payload = reply?.output.outcome.payload));
  await world.quiet();
  const [wait] = session.state.waits.rows();
  if (wait !== undefined)
    await session.report({ type: "wait.resolved", key: wait.key, resolution: { status: "ok", payload: "go" } });
  await world.quiet();
  world.platform.advance(30_000); // So long a body is held that does not ask for what its log has.
  await world.quiet();
  return payload;
};

describe("a later attempt that starts again", () => {
  it("asks for what it asked for, where an earlier one had left a step open that may run once", async () => {
    const tool = tries(
      async (ctx) => {
        void pay(ctx);
        await step(ctx, "note");
      },
      async (ctx) => {
        const quote = await step(ctx, "quote");
        const paid = await pay(ctx).catch(({ code }: { readonly code: string }) => code);
        return [quote, paid, await ctx.waitFor("go")];
      },
    );
    expect(await goneOn(tool)).toEqual(["quote", "step_outcome_unknown", "go"]);
  });

  it("has diverged, which under protocol 1 ends it, when it asks for what it had not asked an earlier one's record for", async () => {
    const before = tries(stepA, async (ctx) => [await step(ctx, "b"), await ctx.waitFor("go")]);
    const after = tries(stepA, async (ctx) => [await step(ctx, "a"), await step(ctx, "b"), await ctx.waitFor("go")]);
    expect(await goneOn(before, after, 1)).toMatchObject({
      code: "replay_diverged",
      message: expect.stringContaining("expected the recorded `durable-step:b`, found step `durable-step:a`"),
    });
  });
});

describe("a later attempt", () => {
  it("has the names and the chances of the one before, so that its steps are answered from the log", async () => {
    const ran: unknown[] = [];
    const order = (ctx: ToolContext) =>
      ((input) => ctx.run("order", () => (ran.push(input), input), { input }))({
        id: ctx.uuid("order"),
        dice: ctx.random(),
      });
    expect(await goneOn(tries(order, order))).toEqual(ran[0]);
    expect(ran).toHaveLength(1);
  });

  it("has the schedule that the one before made", async () => {
    const list = async (ctx: ToolContext) => {
      const made = await schedule(ctx);
      const all = await ctx.schedules.list();
      return made.status === "created" && [made.schedule.id, all.length];
    };
    expect(await goneOn(tries(schedule, list))).toEqual([expect.stringMatching(/^sched_/), 1]);
  });
});

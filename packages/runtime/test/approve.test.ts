/** `ctx.approve`: a body asks a person, who decides by the verbs of approvals, whenever that is. */
import { stableHash } from "@pawl/tool-value";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { type EffectError, type Session, type ToolContext, defineTool } from "../src/index.ts";
import { type Process, World } from "./world.ts";

const Refund = z.object({ cents: z.number().max(500) });
const title = "Refund 5 euros to Ada?";
const question = { title, args: { cents: 500 }, schema: Refund };
const wanted = { call: "r:1/approve", tool: "refund", label: title, args: { cents: 500 } };

type Body = (ctx: ToolContext) => unknown;
const refund = (body: Body) => defineTool({ name: "refund", durable: true, execute: (_, ctx) => body(ctx) });
const asks: Body = (ctx) => ctx.approve(question);

/** A call of the tool, up to where it asks; what it came to. */
const begin = async (body: Body, world = new World()) => {
  const process = world.start([refund(body)]);
  return { world, process, ...(await join(world, process)) };
};

const join = async (world: World, { runtime }: Process) => {
  const session = await runtime.session("s");
  const told: { payload?: unknown } = {};
  void session.request("r", [{ tool: "refund", args: {} }]).then(
    ([reply]) => (told.payload = reply?.output.outcome.payload),
    () => undefined,
  );
  await world.quiet();
  return { session, told };
};

const only = async (session: Session) => {
  const [asked, ...others] = await session.approvals();
  expect(others).toEqual([]);
  if (asked === undefined) throw new Error("nobody is asked");
  return asked;
};

describe("a body that asks a person", () => {
  it("is listed with the approvals, and goes on with the decision", async () => {
    const { world, session, told, process } = await begin(asks);
    expect(await only(session)).toMatchObject({ ...wanted, hash: stableHash({ cents: 500 }) });
    expect(await process.runtime.awaitingApproval()).toEqual([{ scope: "session:s", approvals: 1 }]);
    expect(told.payload).toBeUndefined();
    await (await only(session)).approve({ by: "ada" });
    await world.quiet();
    expect(told.payload).toEqual({ approved: true, args: { cents: 500 }, by: "ada" });
    expect(await session.approvals()).toEqual([]);
    expect(await process.runtime.awaitingApproval()).toEqual([]);
  });

  it("hears why it is refused", async () => {
    const { world, session, told } = await begin(asks);
    await (await only(session)).reject({ by: "ada", reason: "ask Bob" });
    await world.quiet();
    expect(told.payload).toEqual({ approved: false, reason: "ask Bob", by: "ada" });
  });

  it("goes on with the arguments that the person edited, which are checked by the schema first", async () => {
    const { world, session, told } = await begin(asks);
    const asked = await only(session);
    await expect(asked.approve({ by: "ada", args: { cents: 501 } })).rejects.toMatchObject({
      code: "invalid_tool_args",
    });
    expect(await session.approvals()).toHaveLength(1);
    await asked.approve({ by: "ada", args: { cents: 100 } });
    await world.quiet();
    expect(told.payload).toEqual({ approved: true, args: { cents: 100 }, by: "ada" });
  });

  it("refuses a decision on other arguments, and one that is to hold for later", async () => {
    const { session } = await begin(asks);
    const { call, hash } = await only(session);
    await expect(session.approve(call, { hash: "of another", by: "ada" })).rejects.toMatchObject({
      code: "stale_decision",
    });
    await expect(session.approve(call, { hash, by: "ada", sticky: "later" })).rejects.toMatchObject({
      code: "stale_decision",
    });
  });

  it("goes on without a decision once the time is over", async () => {
    const { world, session, told } = await begin((ctx) => ctx.approve({ title, timeoutMs: 60_000 }));
    expect(await only(session)).toMatchObject({ expiresAt: world.platform.now() + 60_000 });
    world.platform.advance(60_000);
    await world.quiet();
    expect(told.payload).toEqual({ approved: false, reason: "nobody decided in time" });
  });

  it("asks several people at once, in a race with anything else", async () => {
    const { world, session, told } = await begin(async (ctx) => {
      const both = [ctx.approve({ title: "One?" }), ctx.approve({ title: "Two?" })] as const;
      return ctx.race([...both, ctx.sleep(600_000)]);
    });
    const asked = await session.approvals();
    expect(asked.map(({ call, label }) => [call, label])).toEqual([
      ["r:1/approve", "One?"],
      ["r:1/approve#2", "Two?"],
    ]);
    await asked[1]?.approve({ by: "bob" });
    await world.quiet();
    expect(told.payload).toEqual({ approved: true, args: {}, by: "bob" });
    expect(await session.approvals()).toEqual([]);
  });

  it("survives its process, and a decision that comes while nobody runs it", async () => {
    const steps: string[] = [];
    const body: Body = async (ctx) => {
      await ctx.run("before", () => steps.push("before"));
      const { approved } = await ctx.approve(question);
      await ctx.run("after", () => steps.push("after"));
      return approved;
    };
    const { world, process, session, told } = await begin(body);
    world.platform.advance(5000);
    await world.quiet();
    expect(process.runtime.inMemory).toBeLessThanOrEqual(1);
    await (await only(session)).approve({ by: "ada" });
    process.kill();
    const next = await join(world, world.start([refund(body)]));
    if ((await next.session.approvals()).length > 0) await (await only(next.session)).approve({ by: "ada" });
    await world.quiet();
    expect([told.payload, next.told.payload]).toContain(true);
    expect(steps).toEqual(["before", "after"]);
  });

  it("is asked anew in the next life, under a name of its own", async () => {
    const { world, session, told } = await begin(async (ctx) => {
      const { by } = await ctx.approve({ title });
      return by === "ada" ? ctx.continueAs({}) : by;
    });
    const first = await only(session);
    await first.approve({ by: "ada" });
    await world.quiet();
    const second = await only(session);
    expect(second.call).not.toBe(first.call);
    await expect(first.approve({ by: "bob" })).rejects.toMatchObject({ code: "call_unknown" });
    await second.approve({ by: "bob" });
    await world.quiet();
    expect(told.payload).toBe("bob");
  });

  it.each([
    ["a blank title", (ctx: ToolContext) => ctx.approve({ title: " " }), "durable_effect_value"],
    ["arguments that do not fit", (ctx: ToolContext) => ctx.approve({ ...question, args: {} }), "invalid_tool_args"],
  ])("is told of %s at once", async (_title, ask, code) => {
    const { told } = await begin((ctx) => ask(ctx).catch((thrown: EffectError) => thrown.code));
    expect(told.payload).toBe(code);
  });

  it("needs protocol 2", async () => {
    const { told } = await begin(
      (ctx) => ctx.approve({ title }).catch((thrown: EffectError) => thrown.code),
      new World(1),
    );
    expect(told.payload).toBe("needs_protocol_2");
  });
});

/** Waits and sleeps, as bodies write them. */
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { type EffectError, type ToolContext, defineTool } from "../src/index.ts";
import { World } from "./world.ts";

const begin = async (body: (ctx: ToolContext) => unknown) => {
  const world = new World();
  const tool = defineTool({ name: "waits", durable: true, execute: (_, ctx) => body(ctx) });
  const session = await world.start([tool]).runtime.session("s");
  const told: { payload?: unknown } = {};
  void session
    .request("r", [{ tool: "waits", args: {} }])
    .then(([reply]) => (told.payload = reply?.output.outcome.payload));
  await world.quiet();
  return { world, session, told };
};

describe("a sleep", () => {
  it.each([
    [5000, 5000],
    ["5s", 5000],
    ["2h 30m", 9_000_000],
    ["1d", 86_400_000],
    ["1.5m 250ms", 90_250],
  ])("of %s lasts %i ms", async (time, ms) => {
    const { world, told } = await begin((ctx) => ctx.sleep(time).then(() => "awake"));
    world.platform.advance(ms - 1);
    await world.quiet();
    expect(told.payload).toBeUndefined();
    world.platform.advance(1);
    await world.quiet();
    expect(told.payload).toBe("awake");
  });

  it("lasts until a date, which may be over", async () => {
    const { world, told } = await begin(async (ctx) => {
      await ctx.sleep(new Date(ctx.now() - 1));
      await ctx.sleep(new Date(ctx.now() + 1000));
      return "awake";
    });
    world.platform.advance(1000);
    await world.quiet();
    expect(told.payload).toBe("awake");
  });

  it.each(["", "soon", "5 parsecs", new Date(Number.NaN), null])("of %s is refused", async (time) => {
    const { told } = await begin((ctx) => ctx.sleep(time as string).catch(({ code }: EffectError) => code));
    expect(told.payload).toBe("durable_effect_value");
  });
});

const saidBy = ({ code, message }: EffectError): string => `${code}: ${message}`;

describe("a wait", () => {
  const Paid = z.object({ cents: z.number() }).transform(({ cents }) => cents / 100);

  it("has its token, and gives what came in the form of its schema", async () => {
    const tokens: string[] = [];
    const { world, session, told } = await begin(async (ctx) => {
      const paid = ctx.waitFor("paid", { schema: Paid });
      tokens.push(paid.token, ctx.token("paid"));
      return paid;
    });
    expect(tokens[0]).toBe(tokens[1]);
    await session.resolve(tokens[0] ?? "", { status: "ok", payload: { cents: 500 } });
    await world.quiet();
    expect(told.payload).toBe(5);
  });

  it("rejects what does not fit its schema, and after its time", async () => {
    let token = "";
    const { world, session, told } = await begin(async (ctx) => {
      const paid = ctx.waitFor("paid", { schema: Paid });
      token = paid.token;
      const first = await paid.catch(saidBy);
      return [first, await ctx.waitFor("never", { timeoutMs: 1000 }).catch(({ code }: EffectError) => code)];
    });
    await session.resolve(token, { status: "ok", payload: { cents: "many" } });
    await world.quiet();
    world.platform.advance(1000);
    await world.quiet();
    expect(told.payload).toEqual([
      expect.stringContaining("invalid_event: the event `paid`: event.cents"),
      "durable_effect_event_timeout",
    ]);
  });
});

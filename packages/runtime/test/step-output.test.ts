/** `ctx.run(name, fn, { output })`: the result of a step is checked before it is on record. */
import { describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import { type ToolContext, defineTool } from "../src/index.ts";
import { World } from "./world.ts";

const calls = [{ label: "c1", tool: "books", args: {} }];
const outcome = async (body: (ctx: ToolContext) => Promise<unknown>, world = new World()) => {
  const tool = defineTool({ name: "books", durable: true, execute: (_, ctx) => body(ctx) });
  const process = world.start([tool]);
  const replies: unknown[] = [];
  void (await process.runtime.session("s")).request("r", calls).then(
    ([reply]) => replies.push(reply?.output.outcome),
    () => undefined,
  );
  await world.quiet();
  return { process, world, reply: replies[0] };
};
const Seat = z.object({ seat: z.string(), at: z.coerce.date() });
const thrownBy = async (step: Promise<unknown>): Promise<unknown> => {
  try {
    return await step;
  } catch (thrown) {
    return { ...(thrown as object), message: (thrown as Error).message };
  }
};

describe("the result of a step", () => {
  it("is what its schema makes of it, in the first run and in later ones, with the schema's type", async () => {
    const seen: unknown[] = [];
    let ran = 0;
    const body = async (ctx: ToolContext): Promise<unknown> => {
      const seat = await ctx.run("seat", () => ((ran += 1), { seat: "12A", at: "2026-11-20", extra: 1 }), {
        output: Seat,
      });
      expectTypeOf(seat).toEqualTypeOf<{ seat: string; at: Date }>();
      seen.push(seat);
      return ctx.waitFor("go");
    };
    const { process, world } = await outcome(body);
    process.kill();
    await outcome(body, world);
    expect(seen).toEqual([0, 1].map(() => ({ seat: "12A", at: new Date("2026-11-20") })));
    expect(ran).toBe(1);
  });

  it("that does not fit fails the step, with the place, and is tried again where the step is", async () => {
    const output = { type: "object", properties: { seat: { type: "string" } }, required: ["seat"] } as const;
    let tries = 0;
    const { reply } = await outcome(async (ctx) => {
      const wrong = await thrownBy(ctx.run("wrong", (): never => ({ seat: 12 }) as never, { output }));
      const later = ctx.run("later", () => ({ seat: (tries += 1) > 1 ? "12A" : (12 as never) }), {
        output,
        retry: { attempts: 2, firstDelayMs: 0 },
      });
      const { seat } = await later;
      expectTypeOf(seat).toBeString();
      return [wrong, await later];
    });
    const message = expect.stringMatching(/^the result of step `wrong` does not fit its `output`: result\.seat: /);
    expect(reply).toMatchObject({
      status: "success",
      payload: [{ code: "invalid_step_output", message }, { seat: "12A" }],
    });
    expect(tries).toBe(2);
  });

  it("is not asked for where its schema is none", async () => {
    let ran = 0;
    const { reply } = await outcome((ctx) =>
      thrownBy(ctx.run("seat", (): never => ((ran += 1), 1) as never, { output: { type: "seat" } })),
    );
    expect(reply).toMatchObject({ payload: { code: "durable_effect_step_options" } });
    expect(ran).toBe(0);
  });
});

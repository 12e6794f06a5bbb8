/** Choices among effects of several types. */
import { describe, expect, expectTypeOf, it } from "vitest";
import { defineTool } from "../src/index.ts";
import { World } from "./world.ts";

describe("a choice among effects of several types", () => {
  it("gives each member its own", async () => {
    const chooser = defineTool({
      name: "chooser",
      durable: true,
      execute: async (_, ctx) => {
        const number = () => ctx.run("number", () => 1);
        const text = () => ctx.run("text", () => "a");
        const members = [number(), text()] as const;
        const all = await ctx.all(members);
        expectTypeOf(all).toEqualTypeOf<readonly [number, string]>();
        const settled = await ctx.allSettled([...members]);
        expectTypeOf(settled).toEqualTypeOf<readonly [PromiseSettledResult<number>, PromiseSettledResult<string>]>();
        expectTypeOf(await ctx.race(members)).toEqualTypeOf<number | string>();
        expectTypeOf(await ctx.any(members)).toEqualTypeOf<number | string>();
        const list = await ctx.all(["x", "y"].map((name) => ctx.run(name, () => name)));
        expectTypeOf(list).toEqualTypeOf<readonly string[]>();
        const [one, a] = all;
        return [one + 1, a.length, settled.map(({ status }) => status), list];
      },
    });
    const session = await new World().start([chooser]).runtime.session("s");
    const [reply] = await session.request("r", [{ label: "c", tool: "chooser", args: {} }]);
    const payload = [2, 1, ["fulfilled", "fulfilled"], ["x", "y"]];
    expect(reply?.output.outcome).toEqual({ status: "success", payload });
  });
});

/** Calls that a body makes of other tools: one by one, and many at once. */
import { describe, expect, it } from "vitest";
import { type ToolContext, ToolError, ToolFailed, defineTool } from "../src/index.ts";
import { World } from "./world.ts";

const echo = defineTool({ name: "echo", id: "tool:of-another-name", execute: (args) => ({ said: args }) });
const refuses = defineTool({ name: "refuses", execute: () => Promise.reject(new ToolError("not today")) });

const result = async (body: (ctx: ToolContext) => unknown): Promise<unknown> => {
  const calls = defineTool({ name: "calls", durable: true, execute: (_, ctx) => body(ctx) });
  const session = await new World().start([calls, echo, refuses]).runtime.session("s");
  const [reply] = await session.request("r", [{ tool: "calls", args: {} }]);
  return reply?.output.outcome.payload;
};

describe("a body that calls another tool", () => {
  it.each([
    ["its name", "echo"],
    ["its id", "tool:of-another-name"],
    ["its definition", echo],
  ])("names it by %s, and is given what it returns", async (_title, tool) => {
    expect(await result((ctx) => ctx.call(tool, { n: 1 }))).toEqual({ said: { n: 1 } });
  });

  it("is thrown how it failed", async () => {
    const told = await result(async (ctx) => {
      const thrown: unknown = await ctx.call("refuses", {}).catch((one: unknown) => one);
      if (!(thrown instanceof ToolFailed)) throw thrown;
      return [thrown.class, thrown.code, thrown.message, thrown.reply.label];
    });
    expect(told).toEqual(["execution", "tool_error", "not today", "refuses"]);
  });

  it("labels them, or they go by the names of their tools", async () => {
    const told = await result(async (ctx) => {
      const labels = ["a", undefined, undefined, "b"];
      const replies = await ctx.callAll(
        labels.map((label) => ({ tool: "echo", args: {}, ...(label === undefined ? {} : { label }) })),
      );
      return replies.map(({ label }) => label);
    });
    expect(told).toEqual(["a", "echo", "echo#2", "b"]);
  });
});

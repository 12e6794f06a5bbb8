import { setFlagsFromString } from "node:v8";
import { describe, expect, it } from "vitest";
import { type ToolContext, defineTool } from "../src/index.ts";
import { World } from "./world.ts";

/** The contexts of so many calls of one tool. */
const contextsOf = async (count: number): Promise<readonly ToolContext[]> => {
  const contexts: ToolContext[] = [];
  const tool = defineTool({ name: "t", execute: (_, ctx) => void contexts.push(ctx) });
  const session = await new World().start([tool]).runtime.session("s");
  for (let i = 0; i < count; i++) await session.request(`r${i}`, [{ label: "c", tool: "t", args: {} }]);
  return contexts;
};

describe("a tool's context", () => {
  it("keeps its signal when a tool adds something of its own to it", async () => {
    const [context] = (await contextsOf(1)) as [ToolContext];
    const own = { ...context, log: "mine" };
    expect(own.signal).toBeInstanceOf(AbortSignal);
    expect(own.signal).toBe(context.signal);
    expect(own.signal.aborted).toBe(true); // The call is over.
  });

  it("is of one hidden class for all calls: V8 keeps each that an accessor of its own makes, and what that closes over", async () => {
    setFlagsFromString("--allow-natives-syntax");
    const isOfClass = new Function("a", "b", "return %HasFastProperties(a) && %HaveSameMap(a, b)") as (
      a: object,
      b: object,
    ) => boolean;
    setFlagsFromString("--no-allow-natives-syntax");
    const [, second, third] = (await contextsOf(3)) as [ToolContext, ToolContext, ToolContext];
    expect(isOfClass(second, third)).toBe(true);
  });
});

/** Results and errors of steps: what a body is given back, in its first run and in those after it. */
import { describe, expect, it } from "vitest";
import { EffectError, ToolError, type ToolContext, defineTool, isError } from "../src/index.ts";
import { World } from "./world.ts";

type Body = (ctx: ToolContext) => unknown;

/** Runs a body, kills its process while it waits, and runs it again to its end. */
const twice = async (body: Body, world = new World()) => {
  const tool = defineTool({
    name: "tool",
    durable: true,
    execute: async (_, ctx) => {
      const result = await body(ctx);
      await ctx.waitFor("go");
      return result;
    },
  });
  for (let run = 1; run <= 2; run++) {
    const process = world.start([tool]);
    const session = await process.runtime.session("s");
    void session.request("r", [{ tool: "tool", args: {} }]).catch(() => undefined);
    await world.quiet();
    process.kill();
  }
  return world;
};

/** The results of a step in both runs, and its line of the log. */
const kept = async (make: () => unknown, protocol = 2) => {
  const seen: unknown[] = [];
  const world = new World(protocol);
  await twice(async (ctx) => {
    seen.push(await ctx.run("step", make as () => never).catch((thrown: unknown) => thrown));
  }, world);
  const lines = await world.journal.read("session:s", 0);
  const line = lines.map(({ line: text }) => text).find((text) => text.includes("step.settled")) ?? "";
  return { seen, result: (JSON.parse(line) as { readonly event: { readonly result: unknown } }).event.result };
};

class Order {
  readonly id = 7;
}

class Declined extends Error {
  readonly statusCode = 402;
  readonly retryable = false;
  readonly send = () => undefined;
}

const cycle = (): unknown => {
  const ada: { name: string; friend?: unknown } = { name: "Ada" };
  ada.friend = ada;
  return ada;
};

describe("the result of a step", () => {
  it.each([
    ["a Date", () => new Date("2026-11-20T09:00:00Z")],
    ["a Map of Sets", () => new Map([["a", new Set([1, 2n])]])],
    ["a URL", () => ({ at: new URL("https://example.org/a?b=1") })],
    ["a RegExp", () => /^a+$/gi],
    ["bytes", () => new Uint8Array([0, 1, 255])],
    ["undefined", () => undefined],
    ["undefined in a list", () => [undefined, 1]],
    ["numbers that JSON has not", () => [Number.NaN, Number.POSITIVE_INFINITY]],
    ["an object that looks like the mark", () => ({ $kept: [["Date", "x"]] })],
    ["a cycle", cycle],
  ])("is what the step returned: %s", async (_title, make) => {
    const { seen } = await kept(make);
    expect(seen).toEqual([make(), make()]);
  });

  it("stands in the log as it is where it is JSON", async () => {
    const json = { cents: 5, of: [null, "a", { $kept: 1, and: 2 }] };
    expect((await kept(() => json)).result).toEqual({ status: "ok", value: json });
    expect((await kept(() => new Date(0))).result).toEqual({
      status: "ok",
      value: { $kept: [["Date", "1970-01-01T00:00:00.000Z"]] },
    });
  });

  it.each([
    ["a function", () => ({ order: { send: () => 1 } }), "`.order.send` is a function, which cannot be kept"],
    ["an instance of a class", () => [new Order()], "cannot be kept"],
  ])("names what cannot be kept: %s", async (_title, make, message) => {
    const { seen } = await kept(make);
    expect(seen[0]).toBeInstanceOf(EffectError);
    expect(seen.map((thrown) => (thrown as EffectError).message)).toEqual(
      [1, 2].map(() => expect.stringContaining(message) as string),
    );
    expect(seen[0]).toMatchObject({ message: expect.stringContaining("the result of step `step`") as string });
  });

  it("is JSON alone in a scope of protocol 1", async () => {
    const { seen } = await kept(() => new Date(0), 1);
    expect(seen).toMatchObject([{ code: "durable_effect_value" }, { code: "durable_effect_value" }]);
    expect((await kept(() => ({ $kept: [1] }), 1)).seen).toEqual([{ $kept: [1] }, { $kept: [1] }]);
  });
});

describe("the error of a step", () => {
  const declined = new Declined("no money", { cause: new TypeError("limit") });

  it("is the very error in the first run, and one that is known by its name in later ones", async () => {
    const { seen } = await kept(() => Promise.reject(declined));
    expect(seen[0]).toBe(declined);
    expect(seen[1]).not.toBe(declined);
    for (const thrown of seen) {
      expect(isError(thrown, "Declined")).toBe(true);
      expect(isError(thrown, "Other")).toBe(false);
      expect(thrown).toMatchObject({ message: "no money", statusCode: 402, retryable: false });
      expect((thrown as Error).cause).toMatchObject({ name: "TypeError", message: "limit" });
    }
    expect(seen[1]).not.toHaveProperty("send");
  });

  it("of the tool's own word stays that, and so does what pawl says", async () => {
    for (const thrown of (await kept(() => Promise.reject(new ToolError("no")))).seen)
      expect(thrown).toBeInstanceOf(ToolError);
    const effect = await kept(() => Promise.reject(new EffectError("busy", "later")));
    expect(effect.seen).toMatchObject([{ code: "busy" }, { code: "busy" }]);
    expect(effect.result).toEqual({ status: "err", error: { code: "busy", message: "later" } });
  });

  it("may be anything", async () => {
    expect((await kept(() => Promise.reject({ status: 404 }))).seen).toEqual([{ status: 404 }, { status: 404 }]);
  });

  it("is a code and a message in a scope of protocol 1", async () => {
    const { seen, result } = await kept(() => Promise.reject(declined), 1);
    expect(seen).toMatchObject([1, 2].map(() => ({ code: "durable_step_failed", message: "no money" })));
    expect(result).toEqual({ status: "err", error: { code: "durable_step_failed", message: "no money" } });
  });
});

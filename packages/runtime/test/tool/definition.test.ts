import { err, ok } from "@pawl/tool-value";
import { type } from "arktype";
import * as t from "io-ts";
import * as v from "valibot";
import { describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import {
  type InputOf,
  Registry,
  type ResultOf,
  ToolError,
  contractOf,
  defineTool,
  manifestOf,
} from "../../src/index.ts";
import { call, payloads } from "../words.ts";
import { World } from "../world.ts";

const toText = { type: "object", properties: { to: { type: "string" } }, required: ["to"] } as const;
const execute = (): string => "booked";

describe("the types of a tool", () => {
  it("lead from its schema to the arguments of its functions, and of its caller", () => {
    const zod = defineTool({
      name: "zod",
      inputSchema: z.object({ to: z.string(), seats: z.coerce.number().default(1) }),
      needsApproval: ({ to, seats }) => {
        expectTypeOf({ to, seats }).toEqualTypeOf<{ to: string; seats: number }>();
        return seats > 1;
      },
      narrate: ({ to }, phase) => {
        expectTypeOf(phase).toEqualTypeOf<"started" | "waiting" | "completed" | "failed">();
        return `${to}: ${phase}`;
      },
      execute: (args) => expectTypeOf(args).toEqualTypeOf<{ to: string; seats: number }>(),
    });
    expectTypeOf<InputOf<typeof zod>>().toEqualTypeOf<{ to: string; seats?: unknown }>();
    const valibot = defineTool({ name: "valibot", inputSchema: v.object({ to: v.string() }), execute });
    expectTypeOf<InputOf<typeof valibot>>().toEqualTypeOf<{ to: string }>();
    const arktype = defineTool({
      name: "arktype",
      inputSchema: type({ to: "string", "seats?": "number" }),
      execute: (args) => expectTypeOf(args).toEqualTypeOf<{ to: string; seats?: number }>(),
    });
    expectTypeOf<InputOf<typeof arktype>>().toEqualTypeOf<{ to: string; seats?: number }>();
    const ioTs = defineTool({ name: "io-ts", inputSchema: t.type({ to: t.string }), execute });
    expectTypeOf<InputOf<typeof ioTs>>().toEqualTypeOf<{ to: string }>();
    const json = defineTool({ name: "json", inputSchema: toText, execute });
    expectTypeOf<InputOf<typeof json>["to"]>().toEqualTypeOf<string>();
    expect(new Registry([zod, valibot, arktype, ioTs, json]).size).toBe(5);
  });

  it("lead from its schema to its result, and hold its body to that", () => {
    const outputSchema = z.array(z.string());
    const typed = defineTool({ name: "typed", inputSchema: toText, outputSchema, execute: async ({ to }) => [to] });
    expectTypeOf<ResultOf<typeof typed>>().toEqualTypeOf<string[]>();
    const special = defineTool({ name: "special", outputSchema, execute: () => err("sold out") });
    expectTypeOf<ResultOf<typeof special>>().toEqualTypeOf<string[]>();
    const json = defineTool({ name: "json", outputSchema: { type: "integer" }, execute: () => 3 });
    expectTypeOf<ResultOf<typeof json>>().toEqualTypeOf<number>();
    // @ts-expect-error: the schema says texts, and the body returns numbers.
    defineTool({ name: "wrong", inputSchema: toText, outputSchema, execute: async () => [1] });
  });

  it("lead from what its body returns to its result where it has no schema for that", () => {
    const plain = defineTool({ name: "plain", inputSchema: toText, execute: async ({ to }) => ({ at: to }) });
    expectTypeOf<ResultOf<typeof plain>>().toEqualTypeOf<{ at: string }>();
    const either = defineTool({ name: "either", execute: (free: boolean) => (free ? "booked" : err("full")) });
    expectTypeOf<ResultOf<typeof either>>().toEqualTypeOf<"booked">();
    expectTypeOf<InputOf<typeof either>>().toEqualTypeOf<boolean>();
    const unsaid = defineTool({ name: "unsaid", execute: () => ok(1) });
    expectTypeOf<ResultOf<typeof unsaid>>().toEqualTypeOf<unknown>();
  });
});

/** Calls a tool once, and returns the payload of its reply. */
const resultOf = async (tool: Parameters<typeof contractOf>[0] & { execute: never }, args: object = {}) => {
  const session = await new World().start([tool]).runtime.session("s");
  const [payload] = payloads(await session.request("r", call(tool.name, args)));
  return payload;
};
const returning = (outputSchema: object, returned: unknown) =>
  resultOf(defineTool({ name: "book", outputSchema, execute: () => returned } as never) as never);

describe("the result of a tool with an `outputSchema`", () => {
  const seats = z.object({ seats: z.number().int(), row: z.string().default("A") });

  it("is what the schema makes of it", async () => {
    expect(await returning(seats, { seats: 2, hidden: "key" })).toEqual({ seats: 2, row: "A" });
    expect(await returning(seats, ok({ seats: 2 }))).toEqual({ seats: 2, row: "A" });
    expect(await returning(t.type({ seats: t.number }), { seats: 2 })).toEqual({ seats: 2 });
    expect(await returning({ type: "object", required: ["seats"] }, { seats: 2n })).toEqual({ seats: 2 });
  });

  it("fails the call where it does not fit, with the place", async () => {
    for (const [schema, returned, why] of [
      [seats, { seats: 1.5 }, "result.seats: "],
      [seats, ok({ seats: "two" }), "result.seats: "],
      [t.type({ seats: t.number }), {}, "result.seats: expected number"],
      [type({ seats: "number" }), { seats: "2" }, "result.seats: "],
      [{ type: "array", items: { type: "string" } }, ["a", 1], "result[1]: "],
    ] as const)
      expect(await returning(schema, returned)).toMatchObject({
        class: "internal",
        code: "invalid_tool_output",
        message: expect.stringContaining(`the result of tool \`book\` does not fit its \`outputSchema\`: ${why}`),
      });
  });

  it("is not asked for where the tool has failed", async () => {
    expect(await returning(seats, err("sold out"))).toMatchObject({ code: "tool_error", message: "sold out" });
    const failing = defineTool({
      name: "book",
      outputSchema: seats,
      execute: () => {
        throw new ToolError("sold out");
      },
    });
    expect(await resultOf(failing as never)).toMatchObject({ code: "tool_error", message: "sold out" });
  });

  it("is described to models and callers by the schema", () => {
    const tool = defineTool({ name: "book", outputSchema: seats, execute: () => ({ seats: 1 }) });
    expect(contractOf(tool).output_schema).toMatchObject({ type: "object", required: ["seats", "row"] });
  });
});

/** Starts a runtime with a tool that asks for the approval of large refunds. */
const startRefunds = (protocol: number) => {
  const asked: unknown[] = [];
  const refund = defineTool({
    name: "refund",
    durable: true,
    inputSchema: z.object({ amount: z.coerce.number() }),
    needsApproval: async ({ amount }) => (asked.push(amount), amount > 100),
    execute: ({ amount }) => amount,
  });
  const world = new World();
  const upgrade = protocol === 1 ? "never" : "auto";
  return { asked, world, refund, process: world.start([refund], { upgrade }) };
};
const callsOf = (...amounts: readonly unknown[]) =>
  amounts.map((amount, i) => ({ label: `c${i}`, tool: "refund", args: { amount } as never }));

describe("a tool that decides itself whether a call needs an approval", () => {
  it("is asked once for each call, with its decoded arguments, and its answer is on record", async () => {
    const { asked, world, process } = startRefunds(2);
    const session = await process.runtime.session("s");
    const replies = session.request("r", callsOf("7", 700));
    await world.quiet();
    expect(asked).toEqual([7, 700]);
    expect(session.state.calls.rows().map(({ phase }) => phase)).toEqual(["completed", "awaiting_approval"]);
    process.kill();
    const again = world.start([startRefunds(2).refund]);
    await again.runtime.recover();
    const recovered = await again.runtime.session("s");
    await world.quiet();
    expect(asked).toEqual([7, 700]);
    const [approval] = await recovered.approvals();
    expect(approval).toMatchObject({ tool: "refund", args: { amount: 700 } });
    await Promise.race([replies, Promise.resolve()]);
  });

  it("asks for every call in a scope of protocol 1, which cannot record the answer", async () => {
    const { world, process } = startRefunds(1);
    const session = await process.runtime.session("s");
    void session.request("r", callsOf(7));
    await world.quiet();
    expect(session.state.calls.rows().map(({ phase }) => phase)).toEqual(["awaiting_approval"]);
  });

  it("fails the call if its rule throws", async () => {
    const broken = defineTool({
      name: "refund",
      needsApproval: () => {
        throw new Error("no such customer");
      },
      execute,
    });
    expect(await resultOf(broken as never)).toMatchObject({ code: "tool_internal_error" });
  });

  it("ends a call that nobody decides in time", async () => {
    const world = new World();
    const pay = defineTool({ name: "pay", needsApproval: { when: () => true, expiresInMs: 60_000 }, execute });
    const session = await world.start([pay]).runtime.session("s");
    const replies = session.request("r", call("pay"));
    await world.quiet();
    world.platform.advance(60_000);
    expect(payloads(await replies)).toMatchObject([{ code: "approval_expired" }]);
  });
});

describe("a description", () => {
  it("becomes the manifest of a provider, with all that goes without saying", () => {
    expect(manifestOf({ name: "look", title: "Look", readOnly: true })).toEqual({
      id: "tool:look",
      name: "look",
      description: "",
      display_name: "Look",
      availability: { base: "showcased" },
      activation: "always",
      bindings: {},
      argument_projection: { kind: "materialize_projected_values" },
      scheduling: "parallel",
      retry_policy: { type: "never" },
      durable: false,
      suspend: true,
      hints: { readonly: true },
      policy: "auto",
      divergence: "park",
      on_crash_loop: "park",
      deferrable: "automatic",
    });
  });
});

describe("the words of a tool about a call", () => {
  it("are its own, with decoded arguments, or made of its title", async () => {
    const registry = new Registry([
      defineTool({
        name: "book",
        inputSchema: z.object({ to: z.string().default("Lviv") }),
        narrate: ({ to }, phase) => (phase === "completed" ? `Booked ${to}` : `Booking ${to}`),
        execute,
      }),
      defineTool({ name: "pay", title: "Pay the bill", execute }),
    ]);
    expect(await registry.narrate("book", {}, "started")).toBe("Booking Lviv");
    expect(await registry.narrate("book", {}, "completed")).toBe("Booked Lviv");
    expect(await registry.narrate("pay", {}, "waiting")).toBe("Pay the bill: waiting");
    expect(await registry.narrate("gone", {}, "failed")).toBe("gone: failed");
  });
});

import { isLeft } from "fp-ts/lib/Either.js";
import * as t from "io-ts";
import * as v from "valibot";
import { describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import type { JsonSchema } from "../../src/tool/argument.ts";
import { checkerOf } from "../../src/tool/check.ts";
import { contractOf, defineTool } from "../../src/index.ts";
import { World } from "../world.ts";

const jsonSchema = {
  type: "object",
  properties: { to: { type: "string" }, copies: { type: "array", items: { type: "integer" } } },
  required: ["to"],
} as const;

/** A standard schema by hand, for one that is a function. */
const validate = (value: unknown) =>
  typeof value === "object" && value !== null && "to" in value && typeof value.to === "string"
    ? { value: value as { readonly to: string } }
    : { issues: [{ message: "to must be a string", path: ["to"] }] };
const input = () => ({ type: "object", required: ["to"] });

describe("arguments", () => {
  it("have the type of their schema, whatever it is written in", () => {
    defineTool({
      name: "zod",
      inputSchema: z.object({ to: z.string() }),
      execute: (args) => expectTypeOf(args).toEqualTypeOf<{ to: string }>(),
    });
    defineTool({
      name: "valibot",
      inputSchema: v.object({ to: v.string() }),
      execute: (args) => expectTypeOf(args).toEqualTypeOf<{ to: string }>(),
    });
    defineTool({
      name: "io-ts",
      inputSchema: t.type({ to: t.string }),
      execute: (args) => expectTypeOf(args).toEqualTypeOf<{ to: string }>(),
    });
    defineTool({
      name: "json",
      inputSchema: jsonSchema,
      execute: (args) => {
        expectTypeOf(args.to).toEqualTypeOf<string>();
        expectTypeOf(args.copies).toEqualTypeOf<readonly number[] | undefined>();
      },
    });
    expect(contractOf(defineTool({ name: "json", inputSchema: jsonSchema, execute: () => 1 })).input_schema).toEqual(
      jsonSchema,
    );
  });

  it("are refused with the path of what does not fit", async () => {
    const refusals = await Promise.all(
      [
        checkerOf(z.object({ to: z.string() })),
        checkerOf(v.object({ to: v.string() })),
        checkerOf(t.type({ to: t.string })),
        checkerOf(jsonSchema),
      ].map((check) => check({ to: 7 })),
    );
    for (const refusal of refusals) expect(isLeft(refusal) && refusal.left).toMatch(/^arguments\.to: ./);
    const inList = await checkerOf(jsonSchema)({ to: "a", copies: [1, "2"] });
    expect(inList).toMatchObject({ left: expect.stringMatching(/^arguments\.copies\[1\]: ./) });
  });

  const closed = { ...jsonSchema, required: ["to", "copies"], additionalProperties: false };
  const told: readonly (readonly [schema: JsonSchema, args: object, message: string])[] = [
    [closed, { to: "a", copies: [], cc: "b" }, 'arguments: Property "cc" is not expected.'],
    [
      closed,
      { too: "a", copies: [] },
      'arguments: Property "too" is not expected. Instance does not have required property "to".',
    ],
    [
      closed,
      {},
      'arguments: Instance does not have required property "to". Instance does not have required property "copies".',
    ],
    [
      { properties: { at: { ...closed, required: ["to"] } }, required: ["at"] },
      { at: { too: "a" } },
      'arguments.at: Property "too" is not expected. Instance does not have required property "to".',
    ],
    [
      { anyOf: [{ type: "object", required: ["from"] }, closed] },
      { to: "a", copies: [], cc: "b" },
      'arguments: Property "cc" is not expected.',
    ],
    [{ properties: { a: true }, unevaluatedProperties: false }, { b: 1 }, 'arguments: Property "b" is not expected.'],
    [{ properties: { a: false } }, { a: 1 }, "arguments.a: Nothing is expected here."],
    [
      { properties: { a: { prefixItems: [true], items: false } } },
      { a: [1, 2] },
      "arguments.a[1]: Nothing is expected here.",
    ],
  ];
  it.each(told)("under %j, being %j, are refused with what is wrong", async (schema, args, message) => {
    expect(await checkerOf(schema)(args as never)).toEqual({ _tag: "Left", left: message });
  });

  it("reach the body as their schema decodes them", async () => {
    const tool = defineTool({
      name: "t",
      inputSchema: z.object({ n: z.number().default(3) }),
      execute: ({ n }) => n,
    });
    const session = await new World().start([tool]).runtime.session("s");
    const [reply] = await session.request("r", [{ label: "c", tool: "t", args: {} }]);
    expect(reply?.output.outcome).toEqual({ status: "success", payload: 3 });
    const [bad] = await session.request("r2", [{ label: "c", tool: "t", args: { n: "x" } }]);
    expect(bad?.output.outcome).toMatchObject({ payload: { class: "invalid_request", code: "invalid_tool_args" } });
  });

  it("are published as JSON Schema where their form can tell it", () => {
    const zod = defineTool({ name: "t", inputSchema: z.object({ to: z.string() }), execute: () => 1 });
    expect(contractOf(zod).input_schema).toMatchObject({ type: "object", properties: { to: { type: "string" } } });
    const said = defineTool({
      name: "t",
      inputSchema: t.type({ to: t.string }),
      manifest: { input_schema: { type: "object", required: ["to"] } },
      execute: () => 1,
    });
    expect(contractOf(said).input_schema).toEqual({ type: "object", required: ["to"] });
  });

  it("may have a schema that no JSON Schema says, and are checked by it all the same", async () => {
    const parameters = z.object({ on: z.coerce.date(), of: z.custom<string>((of) => of === "us") });
    const tool = defineTool({ name: "t", inputSchema: parameters, execute: ({ on, of }) => [on.getUTCFullYear(), of] });
    expect(contractOf(tool).input_schema).toEqual({ type: "object", properties: {}, additionalProperties: true });
    const input_schema = { type: "object", required: ["on", "of"] };
    expect(contractOf(defineTool({ ...tool, manifest: { input_schema } })).input_schema).toEqual(input_schema);
    const session = await new World().start([tool]).runtime.session("s");
    const [good] = await session.request("r", [{ label: "c", tool: "t", args: { on: "2026-11-19", of: "us" } }]);
    expect(good?.output.outcome).toEqual({ status: "success", payload: [2026, "us"] });
    const [bad] = await session.request("r2", [{ label: "c", tool: "t", args: { on: "2026-11-19", of: "them" } }]);
    expect(bad?.output.outcome).toMatchObject({ payload: { code: "invalid_tool_args" } });
  });

  it("may be said by a schema that is a function, as arktype's are", async () => {
    const standard = { version: 1, vendor: "arktype", validate, jsonSchema: { input, output: input } } as const;
    const parameters = Object.assign(() => undefined, { "~standard": standard });
    const tool = defineTool({ name: "t", inputSchema: parameters, execute: ({ to }: { readonly to: string }) => to });
    expect(contractOf(tool).input_schema).toEqual(input());
    const check = checkerOf(parameters);
    expect([await check({ to: "a" }), await check({ to: 7 })]).toEqual([
      { _tag: "Right", right: { to: "a" } },
      { _tag: "Left", left: "arguments.to: to must be a string" },
    ]);
  });
});

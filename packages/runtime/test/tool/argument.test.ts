import { isLeft } from "fp-ts/lib/Either.js";
import * as t from "io-ts";
import * as v from "valibot";
import { describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import { checkerOf } from "../../src/argument.ts";
import { contractOf, defineTool } from "../../src/index.ts";
import { World } from "../world.ts";

const jsonSchema = {
  type: "object",
  properties: { to: { type: "string" }, copies: { type: "array", items: { type: "integer" } } },
  required: ["to"],
} as const;

describe("arguments", () => {
  it("have the type of their schema, whatever it is written in", () => {
    defineTool({
      name: "zod",
      parameters: z.object({ to: z.string() }),
      execute: (args) => expectTypeOf(args).toEqualTypeOf<{ to: string }>(),
    });
    defineTool({
      name: "valibot",
      parameters: v.object({ to: v.string() }),
      execute: (args) => expectTypeOf(args).toEqualTypeOf<{ to: string }>(),
    });
    defineTool({
      name: "io-ts",
      parameters: t.type({ to: t.string }),
      execute: (args) => expectTypeOf(args).toEqualTypeOf<{ to: string }>(),
    });
    defineTool({
      name: "json",
      parameters: jsonSchema,
      execute: (args) => {
        expectTypeOf(args.to).toEqualTypeOf<string>();
        expectTypeOf(args.copies).toEqualTypeOf<readonly number[] | undefined>();
      },
    });
    expect(contractOf(defineTool({ name: "json", parameters: jsonSchema, execute: () => 1 })).input_schema).toEqual(
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

  it("reach the body as their schema decodes them", async () => {
    const tool = defineTool({
      name: "t",
      parameters: z.object({ n: z.number().default(3) }),
      execute: ({ n }) => n,
    });
    const session = await new World().start([tool]).runtime.session("s");
    const [reply] = await session.call("r", [{ id: "c", tool: "t", args: {} }]);
    expect(reply?.output.outcome).toEqual({ status: "success", payload: 3 });
    const [bad] = await session.call("r2", [{ id: "c", tool: "t", args: { n: "x" } }]);
    expect(bad?.output.outcome).toMatchObject({ payload: { class: "invalid_request", code: "invalid_tool_args" } });
  });

  it("are published as JSON Schema where their form can tell it", () => {
    const zod = defineTool({ name: "t", parameters: z.object({ to: z.string() }), execute: () => 1 });
    expect(contractOf(zod).input_schema).toMatchObject({ type: "object", properties: { to: { type: "string" } } });
    const said = defineTool({
      name: "t",
      parameters: t.type({ to: t.string }),
      input_schema: { type: "object", required: ["to"] },
      execute: () => 1,
    });
    expect(contractOf(said).input_schema).toEqual({ type: "object", required: ["to"] });
  });
});

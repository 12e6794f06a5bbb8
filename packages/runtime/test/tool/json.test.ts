/** JSON that a program says or hears is that JSON, also where it has the key that encoded values are told by. */
import { batchId } from "@pawl/sansio-core/driver";
import { type Json, attachment, isAttachment } from "@pawl/tool-value";
import { describe, expect, it } from "vitest";
import { type HostPort, type ToolContext, type ToolDefinition, defineTool } from "../../src/index.ts";
import { type Process, World } from "../world.ts";

const tagged: Json = { deep: [{ $lash_tool_value: "nope" }], $lash_tool_value: "object", entries: { a: 1 } };
const picture = attachment({ id: "img", media_type: { kind: "image", type: "png" }, byte_len: 3 });

const echo = defineTool({ name: "echo", durable: true, execute: (args) => args });
const draw = defineTool({ name: "draw", durable: true, execute: () => [picture, tagged] });

/** Returns what a body sees, on its first run and on the one after its process died. */
const seenBy = async (
  body: (ctx: ToolContext, see: (seen: unknown) => void) => Promise<unknown>,
  host: HostPort = {},
  more: Partial<ToolDefinition> = {},
): Promise<readonly unknown[]> => {
  const seen: unknown[] = [];
  const tool = defineTool({
    name: "t",
    durable: true,
    ...more,
    execute: async (_, ctx) => {
      await body(ctx, (what) => seen.push(what));
      await ctx.waitFor("go on");
    },
  });
  const world = new World();
  const run = async (process: Process): Promise<void> => {
    const session = await process.runtime.session("s");
    void session.request("r", [{ label: "c", tool: "t", args: {} }]).catch(() => undefined);
    await world.quiet();
  };
  const first = world.start([tool, echo, draw], { host });
  await run(first);
  first.kill();
  await run(world.start([tool, echo, draw], { host }));
  return seen;
};

describe("JSON under the reserved key", () => {
  it("is what a step is handed, and what it gives back", async () => {
    const seen = await seenBy(async (ctx, see) => {
      see(await ((input) => ctx.run("a", () => (see(input), tagged), { input }))(tagged));
    });
    expect(seen).toEqual([tagged, tagged, tagged]);
  });

  it("is the arguments of a call in a batch, and of its id", async () => {
    const calls = [{ label: "x", tool: "echo", args: tagged }];
    const seen = await seenBy(async (ctx, see) => {
      const made = ctx.callAll(calls);
      see(made.key);
      see((await made)[0]?.args);
    });
    const { batch_id: id } = batchId([{ id: "x", tool_id: "tool:echo", args: tagged }]);
    expect(seen).toEqual([id, tagged, id, tagged]);
  });

  it("is what a host is asked, and what it answers", async () => {
    const asked: Json[] = [];
    const host: HostPort = { request: async (_, input) => (asked.push(input), tagged) };
    const seen = await seenBy(async (ctx, see) => see(await ctx.host("look", tagged)), host);
    expect([seen, asked]).toEqual([[tagged, tagged], [tagged]]);
  });

  it("is what a tool prepares, and what a body goes on with", async () => {
    const prepared = await seenBy(async (ctx, see) => see(ctx.payload), {}, { prepare: () => tagged });
    expect(prepared).toEqual([tagged, tagged]);
    const args: Json[] = [];
    const again = defineTool<Json>({
      name: "again",
      durable: true,
      execute: async (given, ctx) => (args.push(given), args.length === 1 ? ctx.continueAs(tagged) : null),
    });
    const session = await new World().start([again]).runtime.session("s");
    await session.request("r", [{ label: "c", tool: "again", args: {} }]);
    expect(args).toEqual([{}, tagged]);
  });
});

describe("a value that a call of a batch gave", () => {
  it("is that value, live and in a later run: its attachments are attachments", async () => {
    const seen = await seenBy(async (ctx, see) => {
      const [reply] = await ctx.callAll([{ label: "x", tool: "draw", args: {} }]);
      see(reply?.output.outcome.payload);
    });
    expect(seen).toEqual([
      [picture, tagged],
      [picture, tagged],
    ]);
    expect((seen as readonly (readonly unknown[])[]).map(([first]) => isAttachment(first))).toEqual([true, true]);
  });

  it("survives as the result of the body that asked for it", async () => {
    const pass = defineTool({
      name: "pass",
      durable: true,
      execute: async (_, ctx) =>
        (await ctx.callAll([{ label: "x", tool: "draw", args: {} }]))[0]?.output.outcome.payload,
    });
    const session = await new World().start([pass, draw]).runtime.session("s");
    const [reply] = await session.request("r", [{ label: "c", tool: "pass", args: {} }]);
    expect(reply?.output.outcome.payload).toEqual([picture, tagged]);
  });
});

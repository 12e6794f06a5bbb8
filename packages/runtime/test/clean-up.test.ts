/** `ctx.onCancel`: what a tool does after a cancel, beyond the grace and over the death of its process. */
import { describe, expect, it } from "vitest";
import { type HostPort, type ToolContext, type ToolDefinition, defineTool } from "../src/index.ts";
import { World } from "./world.ts";

const call = [{ label: "c1", tool: "book", args: {} }];
const gone = [{ outcome: { status: "cancelled", payload: { message: "tool call cancelled" } } }];
const never = new Promise<never>(() => undefined);

/** A body that books a room, gives it back when it is cancelled, and waits for its guest. */
const booking = (told: string[], wait: (ctx: ToolContext) => Promise<unknown> = () => never): ToolDefinition =>
  defineTool({
    name: "book",
    durable: true,
    execute: async (_, ctx) => {
      ctx.onCancel(async () => {
        await ctx.run("release", () => void told.push("release"));
        await ctx.sleep(5000);
        await ctx.run("mail", ({ signal }) => void told.push(`mail, aborted: ${signal.aborted}`));
      });
      await ctx.run("book", () => void told.push("book"));
      return wait(ctx);
    },
  });

const begin = async (world: World, tools: readonly ToolDefinition[], host: HostPort = {}) => {
  const process = world.start(tools, { host });
  const session = await process.runtime.session("s");
  const replies = session.request("r", call);
  replies.catch(() => undefined);
  await world.quiet();
  return { process, session, replies };
};
const pass = async (world: World, ms: number): Promise<void> => {
  world.platform.advance(ms);
  await world.quiet();
};
const cancel = { type: "request.cancelled", request: "r" } as const;
const outputs = (replies: readonly { readonly output: unknown }[]) => replies.map(({ output }) => output);

const untilCancelled = (ctx: ToolContext): Promise<unknown> =>
  new Promise((resolve) => ctx.signal.addEventListener("abort", () => resolve("no guest")));

describe("a call that is cancelled", () => {
  it("cleans up first, for longer than its grace, with steps that the cancel does not stop", async () => {
    const world = new World();
    const told: string[] = [];
    const { session, replies } = await begin(world, [booking(told)]);
    await session.report(cancel);
    await world.quiet();
    await pass(world, 1000);
    expect(told).toEqual(["book", "release"]);
    expect(session.state.calls.at("r:c1")?.phase).toBe("running");
    await pass(world, 4000);
    await pass(world, 50);
    expect(outputs(await replies)).toMatchObject(gone);
    expect(told).toEqual(["book", "release", "mail, aborted: false"]);
  });
  it("ends with what its body returned, once it has cleaned up", async () => {
    const world = new World();
    const told: string[] = [];
    const { session, replies } = await begin(world, [booking(told, untilCancelled)]);
    await session.report(cancel);
    await world.quiet();
    await pass(world, 5000);
    expect(outputs(await replies)).toEqual([{ outcome: { status: "success", payload: "no guest" } }]);
    expect(told).toEqual(["book", "release", "mail, aborted: false"]);
  });
  it("cleans up no longer than it said", async () => {
    const world = new World();
    let signal: AbortSignal | undefined;
    const stuck = defineTool({
      name: "book",
      durable: true,
      execute: (_, ctx) => {
        ctx.onCancel((cleanUp) => ((signal = cleanUp.signal), never), { deadlineMs: 300 });
        return never;
      },
    });
    const { session, replies } = await begin(world, [stuck]);
    await session.report(cancel);
    await world.quiet();
    await pass(world, 299);
    expect(signal?.aborted).toBe(false);
    await pass(world, 1);
    await pass(world, 50);
    expect(outputs(await replies)).toMatchObject(gone);
    expect(signal?.aborted).toBe(true);
  });
  it("waits for all that it has to do, also what is asked for after the cancel; errors are the host's", async () => {
    const world = new World();
    const told: string[] = [];
    const errors: unknown[] = [];
    const many = defineTool({
      name: "book",
      durable: true,
      execute: (_, ctx) => {
        ctx.onCancel(() => void told.push("at once"));
        ctx.onCancel(() => {
          throw new Error("no such room");
        });
        ctx.signal.addEventListener("abort", () => {
          ctx.onCancel(() => ctx.sleep(1000).then(() => told.push("late")));
        });
        return never;
      },
    });
    const { session, replies } = await begin(world, [many], { internalError: (_, thrown) => void errors.push(thrown) });
    await session.report(cancel);
    await world.quiet();
    await pass(world, 1000);
    await pass(world, 50);
    expect(outputs(await replies)).toMatchObject(gone);
    expect(told).toEqual(["at once", "late"]);
    expect(errors).toMatchObject([{ message: "no such room" }]);
  });
  it("does nothing of it where the body ended before", async () => {
    const world = new World();
    const told: string[] = [];
    const { session, replies } = await begin(world, [booking(told, () => Promise.resolve("a guest"))]);
    expect(outputs(await replies)).toEqual([{ outcome: { status: "success", payload: "a guest" } }]);
    await expect(session.report(cancel)).rejects.toThrow();
    expect(told).toEqual(["book"]);
  });
});

describe("a body that left the memory", () => {
  it("runs again to clean up, and books nothing twice", async () => {
    const world = new World();
    const told: string[] = [];
    const { session, replies } = await begin(world, [booking(told, (ctx) => ctx.waitFor("guest"))]);
    await pass(world, 2000);
    expect(session.state.calls.at("r:c1")?.phase).toBe("suspended");
    await session.report(cancel);
    await world.quiet();
    await pass(world, 5000);
    await pass(world, 50);
    expect(outputs(await replies)).toMatchObject(gone);
    expect(told).toEqual(["book", "release", "mail, aborted: false"]);
  });
});

describe("a process that dies while a call cleans up", () => {
  it("leaves the rest to the next, however late that comes", async () => {
    const world = new World();
    const told: string[] = [];
    const tool = booking(told);
    const { process, session } = await begin(world, [tool]);
    await session.report(cancel);
    await world.quiet();
    expect(told).toEqual(["book", "release"]);
    process.kill();
    await pass(world, 3_600_000);
    const next = await world.start([tool]).runtime.session("s");
    const replies = next.request("r", call);
    await world.quiet();
    await pass(world, 50);
    expect(outputs(await replies)).toMatchObject(gone);
    expect(told).toEqual(["book", "release", "mail, aborted: false"]);
  });
  it("has the next one hear of the cancel in its place among what is on record", async () => {
    const world = new World();
    const told: string[] = [];
    const tool = defineTool({
      name: "book",
      durable: true,
      execute: async (_, ctx) => {
        ctx.onCancel(() => ctx.sleep(1000));
        await ctx.run("book", () => "room 7");
        told.push(`aborted: ${ctx.signal.aborted}`);
        await new Promise((resolve) => ctx.signal.addEventListener("abort", resolve));
        told.push(String(await ctx.run("release", () => "released")));
        return never;
      },
    });
    const { process, session } = await begin(world, [tool]);
    await session.report(cancel);
    await world.quiet();
    process.kill();
    const next = await world.start([tool]).runtime.session("s");
    const replies = next.request("r", call);
    await world.quiet();
    await pass(world, 1000);
    await pass(world, 50);
    expect(outputs(await replies)).toMatchObject(gone);
    expect(told).toEqual(["aborted: false", "released", "aborted: false", "released"]);
  });
});

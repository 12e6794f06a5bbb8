/** `ctx.spawn`: a tool as a process of its own, and the handle on it. */
import { describe, expect, expectTypeOf, it } from "vitest";
import { type ProcessHandle, type ProcessStarted, type ToolContext, ToolFailed, defineTool } from "../../src/index.ts";
import { World } from "../world.ts";

const To = { type: "object", properties: { to: { type: "string" } }, required: ["to"] } as const;

const pack = defineTool({
  name: "pack",
  inputSchema: To,
  durable: true,
  execute: async ({ to }, ctx) => {
    await ctx.emitProcessEvent("waits", null);
    const pears = await ctx.processEvents.awaitSignal("go");
    return { to, pears: Number(pears) };
  },
});
const breaks = defineTool({
  name: "breaks",
  durable: true,
  execute: async (_, ctx) => ctx.run("break", () => Promise.reject(new Error("boom"))),
});
const idles = defineTool({ name: "idles", durable: true, execute: async (_, ctx) => ctx.waitFor("never") });

const starter = (execute: (ctx: ToolContext) => unknown) =>
  defineTool({ name: "starter", durable: true, execute: (_, ctx) => execute(ctx) });

const classOf = (handle: ProcessHandle): Promise<unknown> =>
  handle.result().then(
    () => "no failure",
    (thrown: unknown) => (thrown instanceof ToolFailed ? thrown.class : String(thrown)),
  );

const outcome = async (execute: (ctx: ToolContext) => unknown, told: ProcessStarted[] = []) => {
  const world = new World();
  const { runtime } = world.start([pack, breaks, idles, starter(execute)]);
  const session = await runtime.session("s");
  const onProcessStarted = (started: ProcessStarted): void => void told.push(started);
  const ended = session.call("starter", {}, { id: "r", onProcessStarted });
  await world.quiet();
  world.platform.advance(1000); // the grace of what is cancelled
  return ended;
};

describe("a process that a body spawns", () => {
  it("takes signals, emits events, and its result has the tool's type", async () => {
    const told: ProcessStarted[] = [];
    const payload = await outcome(async (ctx) => {
      const handle = await ctx.spawn(pack, { to: "Lviv" }, { signals: ["go"], events: ["waits"] });
      expectTypeOf(handle).toEqualTypeOf<ProcessHandle<{ to: string; pears: number }>>();
      // @ts-expect-error -- `to` is a text
      const wrong = (): unknown => ctx.spawn(pack, { to: 7 });
      expect(wrong).toBeTypeOf("function");
      await handle.signal("go", 7);
      return [handle.id, await handle.result()];
    }, told);
    expect(payload).toEqual(["s/r/1/spawn:pack", { to: "Lviv", pears: 7 }]);
    expect(told).toEqual([{ call: "r:1", process: "s/r/1/spawn:pack", name: "pack" }]);
  });

  it("has an id of its own for each, or the one that it is given", async () => {
    const ids = await outcome(async (ctx) => {
      const handles = await Promise.all([
        ctx.spawn(idles, {}),
        ctx.spawn("idles", {}),
        ctx.spawn(idles, {}, { id: "mine" }),
      ]);
      return handles.map(({ id }) => id);
    });
    expect(ids).toEqual(["s/r/1/spawn:idles", "s/r/1/spawn:idles#2", "mine"]);
  });

  it("throws `ToolFailed` where it fails or is cancelled", async () => {
    const codes = await outcome(async (ctx) => {
      const broken = await ctx.spawn(breaks, {});
      const idle = await ctx.spawn(idles, {});
      await idle.cancel();
      return [await classOf(broken), await classOf(idle)];
    });
    expect(codes).toEqual(["internal", "cancelled"]);
  });

  it("is found again by a body whose process died, and started once", async () => {
    const world = new World();
    const starts = starter(async (ctx) => {
      const handle = await ctx.spawn(pack, { to: "Lviv" }, { signals: ["go"], events: ["waits"] });
      await ctx.waitFor("later");
      await handle.signal("go", 1);
      return handle.result();
    });
    const first = world.start([pack, starts]);
    const session = await first.runtime.session("s");
    void session.call("starter", {}, { id: "r" }).catch(() => undefined);
    await world.quiet();
    first.kill();
    const { runtime } = world.start([pack, starts]);
    const again = await runtime.session("s");
    await world.quiet();
    const [wait] = again.state.waits.rows();
    await again.resolveById(wait?.key ?? "", { status: "ok", payload: null }, "ann");
    expect(await again.result("r")).toEqual({ to: "Lviv", pears: 1 });
    const lines = await world.journal.read("process:s/r/1/spawn:pack", 1);
    expect(
      lines.filter(({ line }) => line.includes('"process.waits"') || line.includes('"waits"')).length,
    ).toBeGreaterThan(0);
    expect(lines.filter(({ line }) => line.includes('"type":"call.settled"'))).toHaveLength(1);
  });
});

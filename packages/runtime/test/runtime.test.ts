import { pending } from "@pawl/tool-value";
import { describe, expect, it } from "vitest";
import { EffectError, type ToolContext, ToolError, defineTool } from "../src/index.ts";
import { World } from "./world.ts";
import { call, payloads } from "./words.ts";

describe("a runtime", () => {
  it("runs a tool and replies", async () => {
    const world = new World();
    const echo = defineTool<{ readonly text: string }>({
      name: "echo",
      durable: true,
      execute: ({ text }) => `you said ${text}`,
    });
    const session = await world.start([echo]).runtime.session("s");
    expect(payloads(await session.request("r1", call("echo", { text: "hi" })))).toEqual(["you said hi"]);
  });

  it("hides what a tool throws, and shows what it means to say", async () => {
    const world = new World();
    const seen: unknown[] = [];
    const bad = defineTool({
      name: "bad",
      execute: () => {
        throw new Error("secret");
      },
    });
    const told = defineTool({
      name: "told",
      execute: () => {
        throw new ToolError("no such customer");
      },
    });
    const session = await world
      .start([bad, told], { host: { internalError: (_, thrown) => seen.push(thrown) } })
      .runtime.session("s");
    expect(payloads(await session.request("r1", call("bad")))).toMatchObject([
      { code: "tool_internal_error", class: "internal" },
    ]);
    expect(payloads(await session.request("r2", call("told")))).toMatchObject([
      { code: "tool_error", message: "no such customer" },
    ]);
    expect(seen).toMatchObject([{ message: "secret" }]);
  });

  it("answers recorded steps from the log after a crash, and runs each once per record", async () => {
    const world = new World();
    const effects: string[] = [];
    const order = defineTool({
      name: "order",
      durable: true,
      execute: async (_, ctx) => {
        const steps = [];
        for (const name of ["a", "b", "c"]) {
          steps.push(await ctx.run(name, () => (effects.push(name), `${name}!`)));
          if (name === "b") await ctx.waitFor("go");
        }
        return steps;
      },
    });
    const first = world.start([order]);
    void (await first.runtime.session("s")).request("r1", call("order"));
    await world.quiet();
    first.kill();
    expect(effects).toEqual(["a", "b"]);
    const session = await world.start([order]).runtime.session("s");
    const replies = session.request("r1", call("order"));
    await world.quiet();
    const [waiting] = session.state.waits.rows();
    await session.report({
      type: "wait.resolved",
      key: waiting?.key ?? "",
      resolution: { status: "ok", payload: null },
    });
    expect(payloads(await replies)).toEqual([["a!", "b!", "c!"]]);
    expect(effects).toEqual(["a", "b", "c"]);
  });

  it("takes the branch that a race took, however often the body runs again", async () => {
    const world = new World();
    const taken: string[] = [];
    const racer = defineTool({
      name: "racer",
      durable: true,
      execute: async (_, ctx: ToolContext) => {
        const left = ctx.sleep(10).then(() => "sleep");
        const right = ctx.run("step", () => "step");
        const winner = await Promise.race([left, right]);
        taken.push(winner);
        await ctx.waitFor("end");
        return winner;
      },
    });
    for (let i = 0; i < 3; i++) {
      const process = world.start([racer]);
      void (await process.runtime.session("s")).request("r1", call("racer")).catch(() => undefined);
      await world.quiet();
      world.platform.advance(1500); // The second resume in a row comes after a pause of a second.
      await world.quiet();
      process.kill();
    }
    expect(taken).toEqual(["step", "step", "step"]);
  });

  it("takes the first that succeeds, and tells of all how they ended, the same after a crash", async () => {
    const world = new World();
    const seen: unknown[] = [];
    const chooser = defineTool({
      name: "chooser",
      durable: true,
      execute: async (_, ctx) => {
        const no = (id: string) => ctx.run(id, () => Promise.reject(new EffectError("no", `${id} failed`)));
        const any = await ctx.any([no("a"), ctx.run("b", () => "b"), ctx.sleep(60_000)]);
        const none = await ctx.any([no("c"), no("d")]).catch((thrown: EffectError) => thrown.code);
        const settled = await ctx.allSettled([no("e"), ctx.run("f", () => "f")]);
        seen.push([any, none, settled.map((one) => (one.status === "fulfilled" ? one.value : one.status))]);
        await ctx.waitFor("end");
      },
    });
    for (let i = 0; i < 2; i++) {
      const process = world.start([chooser]);
      void (await process.runtime.session("s")).request("r1", call("chooser")).catch(() => undefined);
      await world.quiet();
      process.kill();
    }
    expect(seen).toEqual([1, 2].map(() => ["b", "no", ["rejected", "f"]]));
  });

  it("parks a call on its completion key until the outside completes it", async () => {
    const world = new World();
    const asks = defineTool({ name: "asks", execute: (_, ctx) => (ctx.completionKey(), pending()) });
    const session = await world.start([asks]).runtime.session("s");
    const replies = session.request("r1", call("asks"));
    await world.quiet();
    const [wait] = session.state.waits.rows();
    await session.report({ type: "wait.resolved", key: wait?.key ?? "", resolution: { status: "ok", payload: 42 } });
    expect(payloads(await replies)).toEqual([42]);
  });

  it("sleeps as long as it was asked to", async () => {
    const world = new World();
    const nap = defineTool({
      name: "nap",
      durable: true,
      execute: async (_, ctx) => {
        const from = ctx.now();
        await ctx.sleep(5000);
        return ctx.now() - from;
      },
    });
    const session = await world.start([nap]).runtime.session("s");
    const replies = session.request("r1", call("nap"));
    await world.quiet();
    world.platform.advance(5000);
    expect(payloads(await replies)).toEqual([5000]);
  });
});

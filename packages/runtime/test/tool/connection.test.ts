import { describe, expect, it } from "vitest";
import { type ConnectionRequest, connectionRequired, defineTool } from "../../src/index.ts";
import { World } from "../world.ts";

const call = [{ label: "c", tool: "t", args: {} }];

/** A tool that needs a connection until it has one, bound to its owner or not. */
const needy = (runs: string[], isConnected: () => boolean, durable: boolean) =>
  defineTool({
    name: "t",
    durable,
    execute: async (_, ctx) => {
      runs.push(await ctx.run("look", () => (isConnected() ? "in" : "out")));
      return runs.at(-1) === "in" ? "done" : connectionRequired("github");
    },
  });

describe("a call that needs a connection", () => {
  it("is parked, told to the host again after a restart, and run again when it is saved", async () => {
    for (const durable of [true, false]) {
      const world = new World();
      const asked: ConnectionRequest[] = [];
      const host = { connectionRequired: (request: ConnectionRequest) => void asked.push(request) };
      const runs: string[] = [];
      let isConnected = false;
      const tool = needy(runs, () => isConnected, durable);
      const first = world.start([tool], { host });
      const lost = (await first.runtime.session("s")).request("r", call);
      void lost.catch(() => undefined);
      await world.quiet();
      const wanted = { scope: "session:s", call: "r:c", callId: "c", tool: "t", provider: "github" };
      expect(asked).toMatchObject([wanted]);
      first.kill();
      const second = world.start([tool], { host });
      const session = await second.runtime.session("s");
      expect(asked).toMatchObject([wanted, wanted]);
      const replies = session.request("r", call);
      await world.quiet();
      expect(runs).toEqual(["out"]);
      isConnected = true;
      await session.connect("r:c", { status: "saved" }, "ann");
      expect((await replies)[0]?.output.outcome).toEqual({ status: "success", payload: "done" });
      expect(runs).toEqual(["out", "in"]);
    }
  });

  it("may need one again, and ends with the host's text when it is refused", async () => {
    const world = new World();
    const tool = defineTool({ name: "t", execute: () => connectionRequired("github") });
    const asked: string[] = [];
    const host = { connectionRequired: ({ provider }: ConnectionRequest) => void asked.push(provider) };
    const session = await world.start([tool], { host }).runtime.session("s");
    const replies = session.request("r", call);
    await world.quiet();
    await session.connect("r:c", { status: "saved" });
    await world.quiet();
    expect(asked).toEqual(["github", "github"]);
    await session.connect("r:c", { status: "refused", message: "no account" });
    expect((await replies)[0]?.output.outcome.payload).toMatchObject({ code: "tool_error", message: "no account" });
    await expect(session.connect("r:c", { status: "saved" })).rejects.toThrow("waits for no connection");
  });

  it("survives a crash at every append", async () => {
    for (let append = 1; append < 12; append++) {
      const world = new World();
      let runs = 0;
      const tool = defineTool({
        name: "t",
        durable: true,
        execute: () => (runs++ === 0 ? connectionRequired("p") : "ok"),
      });
      const asked: string[] = [];
      const host = { connectionRequired: (request: ConnectionRequest) => void asked.push(request.call) };
      const first = world.start([tool], { host, death: { append, when: "before" } });
      const dying = (async () => {
        const session = await first.runtime.session("s");
        void session.request("r", call).catch(() => undefined);
        await world.quiet();
        if (asked.length > 0) await session.connect("r:c", { status: "saved" });
      })();
      void dying.catch(() => undefined);
      await world.quiet(120);
      first.kill();
      const session = await world.start([tool], { host }).runtime.session("s");
      const replies = session.request("r", call);
      await world.quiet();
      if (session.state.calls.rows()[0]?.phase === "suspended") await session.connect("r:c", { status: "saved" });
      expect([append, (await replies)[0]?.output.outcome.payload]).toEqual([append, "ok"]);
    }
  });

  it("has diverged where what an earlier run asked for is left behind", async () => {
    const world = new World();
    const ran: string[] = [];
    const asked: string[] = [];
    const host = { connectionRequired: ({ provider }: ConnectionRequest) => void asked.push(provider) };
    const tool = (isConnected: boolean) =>
      defineTool({
        name: "t",
        durable: true,
        onDivergence: "fail",
        execute: async (_, ctx) => {
          if (!isConnected) return connectionRequired("github");
          await ctx.run("charge", () => (ran.push("charge"), 1));
          return ctx.waitFor("go");
        },
      });
    const first = world.start([tool(true)], { host });
    void (await first.runtime.session("s")).request("r", call).catch(() => undefined);
    await world.quiet();
    first.kill();
    const session = await world.start([tool(false)], { host }).runtime.session("s");
    const [reply] = await session.request("r", call);
    expect(reply?.output.outcome.payload).toMatchObject({ code: "replay_diverged" });
    expect([ran, asked]).toEqual([["charge"], []]);
  });
});

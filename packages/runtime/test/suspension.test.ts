/** Bodies that only wait leave memory, whatever they wait for; they come back for an answer of their own. */
import type { Json } from "@pawl/tool-value";
import { describe, expect, it } from "vitest";
import { type HostPort, type Session, type ToolDefinition, defineTool } from "../src/index.ts";
import { type Process, type Start, World } from "./world.ts";
import { BackgroundWorld, finished, runner } from "./background/world.ts";
import { eventType, program, toolCall } from "./process/world.ts";

const under1: Start = { upgrade: "never" };
const atOnce: Start = { linger: { ms: 0 } };

const call = (tool: string, args: Json = {}) => [{ label: "c", tool, args }];
const phase = ({ state }: Session, ref = "r:c"): string | undefined => state.calls.at(ref)?.phase;

/** Whoever waits for replies of a process that dies hears no more of it. */
const ask = (session: Session, tool: string): Promise<unknown> =>
  session.request("r", call(tool)).then(([reply]) => reply?.output.outcome);
const forget = (session: Session, tool: string): void => void ask(session, tool).catch(() => undefined);

const pass = async (world: World, ms: number): Promise<void> => {
  await world.quiet();
  world.platform.advance(ms);
  await world.quiet();
};
const patience = async (world: World): Promise<void> => {
  for (let i = 0; i < 3; i++) await pass(world, 2000);
};

/** The agent loop as it is documented: a durable tool that asks its model in steps, and calls tools in batches. */
const agent = () => {
  const done: string[] = [];
  const loop = defineTool({
    name: "loop",
    durable: true,
    execute: async (_, ctx) => {
      const plan = await ctx.run("model:1", () => (done.push("model"), "pay"));
      const [reply] = await ctx.callAll([{ label: "x", tool: "pay", args: { plan } }]);
      return ((said) => ctx.run("model:2", () => (done.push("model"), { said }), { input: said }))(
        reply?.output.outcome.payload,
      );
    },
  });
  const pay = defineTool({
    name: "pay",
    durable: true,
    needsApproval: true,
    execute: (_, ctx) => ctx.run("pay", () => (done.push("paid"), "paid")),
  });
  return { done, tools: [loop, pay] };
};

const approve = async (session: Session): Promise<void> => {
  const [asked] = await session.approvals();
  await session.approve(asked?.call ?? "", { hash: asked?.hash ?? "", by: "p" });
};

describe("an agent's loop that waits for a person", () => {
  it("outlives fifty restarts, half of them crashes, and pays once when the person has decided", async () => {
    const world = new World();
    const { done, tools } = agent();
    for (let i = 0; i < 50; i++) {
      const process = world.start(tools, atOnce);
      forget(await process.runtime.session("s"), "loop");
      await patience(world);
      expect(process.runtime.inMemory).toBe(0);
      if (i % 2 === 0) process.kill();
      else await process.runtime.close();
    }
    const { runtime } = world.start(tools);
    const outcome = ask(await runtime.session("s"), "loop");
    await world.quiet();
    await approve(await runtime.session("s"));
    expect(await outcome).toEqual({ status: "success", payload: { said: "paid" } });
    expect(done).toEqual(["model", "paid", "model"]);
  });

  it("was failed for good by its sixth restart under protocol 1", async () => {
    const world = new World();
    const { tools } = agent();
    const live = async (): Promise<[Process, unknown]> => {
      const process = world.start(tools, under1);
      const outcome = ask(await process.runtime.session("s"), "loop").catch(() => "lost");
      for (let i = 0; i < 3; i++) await pass(world, 70_000);
      return [process, await Promise.race([outcome, world.quiet(5).then(() => "waits")])];
    };
    for (let i = 0; i < 6; i++) {
      const [process, found] = await live();
      expect(found).toBe("waits");
      await process.runtime.close();
    }
    const [, found] = await live();
    expect(found).toMatchObject({ payload: { code: "tool_outcome_unknown" } });
  });

  it("leaves once the call below has come to rest, however long that was at work", async () => {
    const world = new World();
    const { promise: works, resolve: finish } = Promise.withResolvers<string>();
    const inner = defineTool({
      name: "inner",
      durable: true,
      execute: async (_, ctx) => [await ctx.run("work", () => works), await ctx.waitFor("go")],
    });
    const outer = defineTool({
      name: "outer",
      durable: true,
      execute: async (_, ctx) => (await ctx.callAll([{ label: "x", tool: "inner", args: {} }]))[0]?.output ?? null,
    });
    const { runtime } = world.start([inner, outer], atOnce);
    const session = await runtime.session("s");
    forget(session, "outer");
    for (let i = 0; i < 10; i++) await pass(world, 60_000);
    expect([phase(session), runtime.inMemory]).toEqual(["running", 1]);
    finish("done");
    await patience(world);
    expect([phase(session), runtime.inMemory]).toEqual(["suspended", 0]);
  });
});

/** A host that asks a person, who answers in their own time. */
const personal = () => {
  const asked: string[] = [];
  const open: ((answer: Json) => void)[] = [];
  const host: HostPort = {
    request: (name, input, key, { waiting }) => {
      asked.push(`${name} ${String(input)} ${key}`);
      waiting();
      return new Promise((resolve) => void open.push(resolve));
    },
  };
  const asks = defineTool({
    name: "asks",
    durable: true,
    execute: async (_, ctx) => {
      const first = ctx.host("ask", "may I?");
      const woken = await ctx.race([first, ctx.waitFor("poke")]);
      return [woken, await first];
    },
  });
  return { asked, open, host, tools: [asks] };
};

const poke = async (session: Session): Promise<void> => {
  const [wait] = session.state.waits.rows();
  await session.report({ type: "wait.resolved", key: wait?.key ?? "", resolution: { status: "ok", payload: "poked" } });
};

describe("a body whose host asks a person", () => {
  it("leaves memory with its session, and the answer brings both back", async () => {
    const world = new World();
    const { asked, open, host, tools } = personal();
    const { runtime } = world.start(tools, { ...atOnce, host });
    const outcome = ask(await runtime.session("s"), "asks");
    await patience(world);
    expect(runtime.inMemory).toBe(0);
    open[0]?.("yes");
    expect(await outcome).toMatchObject({ payload: ["yes", "yes"] });
    expect(asked).toHaveLength(1);
  });

  it("is not asked for twice by a process that is still asking, though its body came back meanwhile", async () => {
    const world = new World();
    const { asked, open, host, tools } = personal();
    const { runtime } = world.start(tools, { ...atOnce, host });
    const outcome = ask(await runtime.session("s"), "asks");
    await patience(world);
    await runtime.recover();
    expect(runtime.inMemory).toBe(0);
    await poke(await runtime.session("s"));
    await patience(world);
    expect([asked.length, runtime.inMemory]).toEqual([1, 0]);
    open[0]?.("yes");
    expect(await outcome).toMatchObject({ payload: ["poked", "yes"] });
  });

  it("is asked for again after a restart, under the same key, though nobody runs the body", async () => {
    const world = new World();
    const first = personal();
    const dead = world.start(first.tools, { host: first.host });
    forget(await dead.runtime.session("s"), "asks");
    await patience(world);
    dead.kill();
    const second = personal();
    const { runtime } = world.start(second.tools, { ...atOnce, host: second.host });
    await runtime.recover();
    await patience(world);
    expect([second.asked, runtime.inMemory]).toEqual([first.asked, 0]);
    const outcome = ask(await runtime.session("s"), "asks");
    await patience(world);
    second.open[0]?.("yes");
    expect(await outcome).toMatchObject({ payload: ["yes", "yes"] });
    expect(second.asked).toHaveLength(1);
  });

  it("stays under protocol 1, where a host cannot say so", async () => {
    const world = new World();
    const { open, host, tools } = personal();
    const { runtime } = world.start(tools, { ...atOnce, ...under1, host });
    const session = await runtime.session("s");
    const outcome = ask(session, "asks");
    await patience(world);
    expect([phase(session), runtime.inMemory]).toEqual(["running", 1]);
    open[0]?.("yes");
    expect(await outcome).toMatchObject({ payload: ["yes", "yes"] });
  });

  it("stays while the host has not said so", async () => {
    const world = new World();
    const { promise, resolve } = Promise.withResolvers<Json>();
    const { runtime } = world.start(personal().tools, { ...atOnce, host: { request: () => promise } });
    const session = await runtime.session("s");
    const outcome = ask(session, "asks");
    await patience(world);
    expect([phase(session), runtime.inMemory]).toEqual(["running", 1]);
    resolve("yes");
    expect(await outcome).toMatchObject({ payload: ["yes", "yes"] });
  });
});

describe("a body whose message finds its link full", () => {
  it("leaves memory, and is woken in its turn when the peer answers", async () => {
    const world = new World();
    let isHeldUp = false;
    const inbox = async (scope: string) => (isHeldUp && scope.startsWith("process:") ? [] : world.journal.inbox(scope));
    const listens = program("listens", async ({ processEvents }) => [
      await processEvents.awaitSignal("go"),
      await processEvents.awaitSignal("go"),
      await processEvents.awaitSignal("go"),
    ]);
    const starts = program("starts", async ({ processes }) => {
      await processes.start({ id: "p", input: toolCall("listens"), eventTypes: [eventType("signal.go")] });
      return processes.await("p");
    });
    const signals = defineTool<{ readonly n: number }>({
      name: "signals",
      durable: true,
      execute: async ({ n }, { processes }) => processes.signal("p", "go", n, `s${n}`),
    });
    const { runtime } = world.start([listens, starts, signals], {
      ...atOnce,
      options: { maxUnanswered: 1 },
      faulty: { inbox },
    });
    const end = (await runtime.session("s")).request("r", call("starts"));
    await patience(world);
    isHeldUp = true;
    const session = await runtime.session("s");
    const told: Promise<unknown>[] = [];
    for (const n of [1, 2, 3]) {
      told.push(session.request(`r${n}`, call("signals", { n })));
      await pass(world, 100);
    }
    await patience(world);
    const waiting = [1, 2, 3].map((n) => session.state.calls.at(`r${n}:c`));
    expect(waiting.map((row) => row?.phase)).toEqual(["suspended", "suspended", "suspended"]);
    expect(waiting.map((row) => row?.phase === "suspended" && row.link?.to)).toEqual([
      undefined,
      "process:p",
      "process:p",
    ]);
    isHeldUp = false;
    await runtime.recover();
    await patience(world);
    await Promise.all(told);
    expect((await end)[0]?.output.outcome.payload).toEqual({ type: "success", value: [1, 2, 3] });
  });
});

describe("how long a body may be quiet", () => {
  it("is ten times as long as its last re-run took, if that is more than two seconds", async () => {
    const world = new World();
    let runs = 0;
    const slow = defineTool({
      name: "slow",
      durable: true,
      execute: async (_, ctx) => {
        runs += 1;
        if (runs > 1) world.platform.advance(500);
        await ctx.waitFor("first");
        return ctx.waitFor("second");
      },
    });
    const session = await world.start([slow]).runtime.session("s");
    forget(session, "slow");
    await pass(world, 2000);
    expect([phase(session), runs]).toEqual(["suspended", 1]);
    await poke(session);
    await pass(world, 4999);
    expect([phase(session), runs]).toEqual(["running", 2]);
    await pass(world, 1);
    expect(phase(session)).toBe("suspended");
  });

  it("is two seconds again after a re-run that took no time", async () => {
    const world = new World();
    const waits = defineTool({
      name: "waits",
      durable: true,
      execute: async (_, ctx) => [await ctx.waitFor("first"), await ctx.waitFor("second")],
    });
    const session = await world.start([waits]).runtime.session("s");
    forget(session, "waits");
    await pass(world, 2000);
    await poke(session);
    await pass(world, 1999);
    expect(phase(session)).toBe("running");
    await pass(world, 1);
    expect(phase(session)).toBe("suspended");
  });

  it("has no end where its tool keeps it in memory", async () => {
    const world = new World();
    const stays = defineTool({
      name: "stays",
      durable: true,
      suspend: false,
      execute: (_, ctx) => ctx.waitFor("first"),
    });
    const session = await world.start([stays]).runtime.session("s");
    const outcome = ask(session, "stays");
    for (let i = 0; i < 10; i++) await pass(world, 60_000);
    expect(phase(session)).toBe("running");
    await poke(session);
    expect(await outcome).toMatchObject({ payload: "poked" });
  });
});

/** A tool that says what it does before and after it waits. */
const speaks = (name = "speaks") =>
  defineTool({
    name,
    durable: true,
    execute: async (_, ctx) => {
      ctx.progress({ message: "begins", kind: "info" });
      await ctx.run("work", () => 1);
      ctx.progress({ message: "waits", kind: "info" });
      await ctx.waitFor("go");
      ctx.progress({ message: "goes on", kind: "info" });
      return "done";
    },
  });

const shownTo = async (how: Start): Promise<readonly string[]> => {
  const world = new World();
  const session = await world.start([speaks()], how).runtime.session("s");
  const shown: string[] = [];
  const watched = session.observe();
  const watching = (async () => {
    for await (const frame of watched)
      if (frame.type === "ephemeral" && frame.observation.type === "progress") shown.push(frame.observation.text);
  })();
  const outcome = ask(session, "speaks");
  await patience(world);
  expect(phase(session)).toBe("suspended");
  await poke(session);
  await outcome;
  await watched.return();
  await watching;
  return shown;
};

describe("progress", () => {
  it("is shown once: a body that runs again says it to nobody", async () => {
    expect(await shownTo({})).toEqual(["begins", "waits", "goes on"]);
  });
  it("was shown again by each run under protocol 1", async () => {
    expect(await shownTo(under1)).toEqual(["begins", "waits", "begins", "waits", "goes on"]);
  });
});

describe("a background run that waits", () => {
  const waiting = runner("waits", async (ctx, sink) => {
    await sink.status("about to wait");
    await ctx.waitFor("go");
    await sink.status("goes on");
    return finished("done");
  });
  const quick = runner("quick", async () => finished("quick"));

  it("gives back its place on the worker, and takes one again before it goes on", async () => {
    const world = new BackgroundWorld();
    const process = world.begin([waiting, quick], { background: { workerRuns: 1 } });
    const { runtime } = process;
    const first = await runtime.background.spawn("a", { tool: "waits", args: {} });
    await world.quiet();
    await expect(runtime.background.spawn("b", { tool: "quick", args: {} })).resolves.toMatchObject({
      status: "refused",
    });
    await patience(world);
    expect(runtime.background.places.active).toBe(0);
    const second = await runtime.background.spawn("b", { tool: "quick", args: {} });
    expect(second).toMatchObject({ status: "started" });
    await patience(world);
    const scope = await runtime.processes.scope(first.run);
    await poke(scope);
    const task = first.status === "started" ? first.task : "";
    expect(await world.over(process, task, "a")).toMatchObject({ state: "succeeded" });
    expect(runtime.background.places.active).toBe(0);
  });
});

const prepares = (prepare: () => Promise<Json> = async () => 5): ToolDefinition =>
  defineTool({ name: "pays", durable: true, prepare, execute: (_, { payload }) => `paid ${String(payload)}` });

/** A process that dies while it prepares the call; the next has no such tool. */
const deployed = async (how: Start = {}) => {
  const world = new World();
  const first = world.start([prepares(() => new Promise(() => undefined))], how);
  forget(await first.runtime.session("s"), "pays");
  await world.quiet();
  first.kill();
  const { runtime } = world.start([], how);
  const session = await runtime.session("s");
  const outcome = ask(session, "pays");
  await world.quiet();
  return { world, runtime, session, outcome };
};

describe("a call in preparation whose tool is away", () => {
  it("goes on when a deployment brings the tool back", async () => {
    const { runtime, session, outcome } = await deployed();
    expect(phase(session)).toBe("no_tool");
    runtime.registry.register(prepares());
    expect(await outcome).toEqual({ status: "success", payload: "paid 5" });
  });
  it("goes on in a process that has the tool", async () => {
    const { world } = await deployed();
    const { runtime } = world.start([prepares()]);
    expect(await ask(await runtime.session("s"), "pays")).toEqual({ status: "success", payload: "paid 5" });
  });
  it("fails when its time is over, as it did at once under protocol 1", async () => {
    const { world, outcome } = await deployed();
    await pass(world, 900_000);
    const failed = { status: "failure", payload: { code: "tool_unavailable" } };
    expect(await outcome).toMatchObject(failed);
    expect(await (await deployed(under1)).outcome).toMatchObject(failed);
  });
});

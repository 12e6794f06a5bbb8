/** Messages between scopes that live in different runtimes over one store. */
import { recordedOf } from "@pawl/sansio-core";
import { parse } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it } from "vitest";
import { type Death, type Process, World } from "../world.ts";
import { deaths, eventType, program, toolCall } from "./world.ts";

const lease = { ttlMs: 9000 };
const calls = [{ label: "c", tool: "body", args: {} }];

/** Time passes in small steps, until something is so. */
const passUntil = async (world: World, isSo: () => boolean, ms = 120_000): Promise<void> => {
  for (let left = ms; left > 0 && !isSo(); left -= 100) {
    world.platform.advance(100);
    await world.quiet(8);
  }
};

const parentAndChild = (work: string[]) => [
  program("body", async ({ processes }) => {
    await processes.start({ id: "p", input: toolCall("work"), eventTypes: [eventType("signal.go")] });
    await processes.signal("p", "go", "first", "s1");
    const end = processes.await("p");
    await processes.signal("p", "go", "second", "s2");
    return end;
  }),
  program("work", async (ctx) => {
    const heard = [await ctx.processEvents.awaitSignal("go"), await ctx.processEvents.awaitSignal("go")];
    return ctx.run(
      "once",
      () => (work.push("done"), heard.map((signal) => (signal as { payload?: unknown }).payload ?? signal)),
    );
  }),
];

const events = async (world: World, scope: string): Promise<readonly string[]> =>
  (await world.journal.read(scope, 1)).map(({ line }) => {
    const recorded = E.chain(recordedOf)(parse(line));
    if (E.isLeft(recorded)) throw new Error(line);
    const { event } = recorded.right;
    return event.type === "message.received" ? `${event.type} ${event.message.type} ${event.number}` : event.type;
  });

const count = (all: readonly string[], one: string): number => all.filter((event) => event === one).length;

/** The session in one runtime, its process in another; whoever is left goes on. */
const lived = async (death: Death | undefined, dies: "parent" | "child") => {
  const world = new World();
  const work: string[] = [];
  const tools = parentAndChild(work);
  const starting = (who: "parent" | "child") => (death !== undefined && dies === who ? { lease, death } : { lease });
  const child = world.start(tools, starting("child"));
  void child.runtime.processes.read("p").catch(() => undefined); // Unknown so far: but the scope lives there now.
  await world.quiet();
  const parent = world.start(tools, starting("parent"));
  const heard: { output?: unknown } = {};
  const ask = ({ runtime }: Process): void =>
    void runtime
      .session("s")
      .then((session) => session.request("r", calls))
      .then(
        ([reply]) => (heard.output = reply?.output.outcome.payload),
        () => undefined, // It died of it: the other one is asked.
      );
  ask(parent);
  await passUntil(world, () => heard.output !== undefined || parent.isDead, 60_000);
  if (parent.isDead) {
    await passUntil(world, () => false, 20_000);
    ask(child);
    await passUntil(world, () => heard.output !== undefined);
  }
  await passUntil(world, () => false, 20_000);
  return { world, work, output: heard.output };
};

const wanted = { type: "success", value: ["first", "second"] };

describe("a session and its process in two runtimes over one store", () => {
  it("hear each other, each message once, and leave nothing lying", async () => {
    const { world, work, output } = await lived(undefined, "parent");
    expect(output).toEqual(wanted);
    expect(work).toEqual(["done"]);
    expect((await world.journal.scopes("", "", 9)).map(({ epoch }) => epoch)).toEqual([1, 1]);
    for (const scope of ["session:s", "process:p"]) expect(await world.journal.inbox(scope)).toEqual([]);
    const received = (await events(world, "process:p")).filter((event) => event.startsWith("message.received"));
    expect(new Set(received).size).toBe(received.length);
  });

  it.each(["parent", "child"] as const)("lose nothing and double nothing, wherever the %s's dies", async (dies) => {
    for (const death of deaths(14)) {
      const at = `the ${dies} died ${death.when} append ${death.append}`;
      const { world, work, output } = await lived(death, dies);
      expect(output, at).toEqual(wanted);
      expect(work.length, at).toBeLessThanOrEqual(2);
      const process = await events(world, "process:p");
      const received = process.filter((event) => event.startsWith("message.received"));
      expect(new Set(received).size, at).toBe(received.length);
      expect(count(process, "message.received process.start 1"), at).toBe(1);
      for (const scope of ["session:s", "process:p"]) expect(await world.journal.inbox(scope), at).toEqual([]);
    }
  });
});

describe("a scope that nobody has", () => {
  it("is opened by whoever lives when there is mail for it", async () => {
    const world = new World();
    const tools = parentAndChild([]);
    const first = world.start(tools, { lease });
    await first.runtime.processes.read("p").catch(() => undefined);
    await first.runtime.close();
    const { runtime } = world.start(tools, { lease });
    const heard: { output?: unknown } = {};
    const session = await runtime.session("s");
    void session.request("r", calls).then(([reply]) => (heard.output = reply?.output.outcome.payload));
    await passUntil(world, () => heard.output !== undefined, 5000);
    expect(heard.output).toEqual(wanted);
  });

  it("is taken up by whoever lives when it is at work, though nobody asks", async () => {
    const world = new World();
    const steps: string[] = [];
    let lives = 0;
    const body = program("body", async (ctx) => {
      await ctx.run("a", () => steps.push("a"));
      if (++lives === 1) await new Promise(() => undefined);
      return ctx.run("b", () => steps.push("b"));
    });
    const first = world.start([body], { lease });
    void (await first.runtime.session("s")).request("r", calls).catch(() => undefined);
    await world.quiet();
    first.kill();
    world.start([body], { lease });
    await passUntil(world, () => steps.includes("b"), 60_000);
    expect(steps).toEqual(["a", "b"]);
  });

  it("waits for its turn where there are very many, and all are taken up", async () => {
    const world = new World();
    const naps = program("body", async ({ sleep }) => (await sleep(20_000), "rested"));
    const first = world.start([naps], { lease });
    for (let i = 0; i < 600; i++)
      void (await first.runtime.session(`s${i}`)).request("r", calls).catch(() => undefined);
    await world.quiet();
    first.kill();
    const next = world.start([naps], { lease });
    await passUntil(world, () => next.runtime.inMemory > 0, 40_000);
    expect(next.runtime.inMemory).toBeLessThanOrEqual(256);
    await passUntil(world, () => next.runtime.inMemory === 600, 5000);
    expect(next.runtime.inMemory).toBe(600);
  });
});

describe("a receiver that has no room for more answers", () => {
  it("takes the message when it is sent again with what was heard by then", async () => {
    const world = new World();
    const body = program("body", async ({ processes }) => {
      await processes.start({ id: "p", input: toolCall("work"), eventTypes: [eventType("signal.go")] });
      const said = ["a", "b", "c", "d"].map((id) => processes.signal("p", "go", id, id));
      await Promise.all(said);
      return processes.await("p");
    });
    const work = program("work", async ({ processEvents }) => {
      for (let i = 0; i < 4; i++) await processEvents.awaitSignal("go");
      return "heard";
    });
    const { runtime } = world.start([body, work], { options: { maxAnswers: 1 } });
    const heard: { output?: unknown } = {};
    void (await runtime.session("s"))
      .request("r", calls)
      .then(([reply]) => (heard.output = reply?.output.outcome.payload));
    await passUntil(world, () => heard.output !== undefined, 5000);
    expect(heard.output).toEqual({ type: "success", value: "heard" });
    await world.quiet(); // The last answers are heard when nobody waits for them any more.
    expect(await world.journal.mailed()).toEqual([]);
  });
});

/** Tests what becomes of a scope in which something goes wrong that is nobody's call, and of those who wait for it. */
import { describe, expect, it } from "vitest";
import { type Journal, Runtime, type RuntimeOptions, type Telemetry, defineTool } from "../src/index.ts";
import type { Append, AppendResult } from "../src/driver.ts";
import { toolCall } from "./process/world.ts";
import { World, roots } from "./world.ts";
import { call, naps, parks } from "./words.ts";

const runtimeIn = (world: World, options: Partial<RuntimeOptions>): Runtime => {
  const { journal, platform } = world;
  return new Runtime({ journal, platform, tools: [parks, naps], instance: "p", roots, ...options });
};

const observe = (_scope: string, { what }: { readonly what: string }): void => {
  if (what === "call_completed") throw new Error("the host's own");
};

describe("a scope whose host throws where it observes", () => {
  it("is lost, and who waits for what is durable by then is told so", async () => {
    const world = new World();
    const { runtime } = world.start([parks], { host: { observe } });
    const session = await runtime.session("s");
    const replies = expect(session.request("r", call("parks"))).rejects.toMatchObject({ code: "scope_lost" });
    await world.quiet();
    await session.cancel({ call: "r:c1" }, "ann");
    await replies;
    expect((await runtime.session("s")).state.calls.at("r:c1")).toBeUndefined();
    await runtime.close();
  });
});

describe("a scope that is lost while the record of a body is read", () => {
  it("starts that body no more: another owner may run it", async () => {
    const world = new World();
    let runs = 0;
    const told: unknown[] = [];
    const counts = defineTool({
      name: "counts",
      durable: true,
      execute: async (_, ctx) => {
        runs += 1;
        await ctx.run("first", () => 1);
        return ctx.sleep(100_000);
      },
    });
    const first = world.start([counts]);
    void (await first.runtime.session("s")).request("r", call("counts")).catch(() => undefined);
    await world.quiet();
    first.kill();
    const reading = Promise.withResolvers<void>();
    let isReading = false;
    const read: Journal["read"] = async (...of) => {
      if (runs === 1 && isReading) await reading.promise;
      return world.journal.read(...of);
    };
    const faulty: Partial<Journal> = { read };
    const second = world.start([counts], { faulty, host: { internalError: (_, thrown) => void told.push(thrown) } });
    const session = await second.runtime.session("s");
    isReading = true;
    await world.quiet();
    session.runner.abandon("its lease may have run out");
    reading.resolve();
    await world.quiet();
    expect([runs, told]).toEqual([1, []]);
  });
});

describe("a scope that can not be opened to its end", () => {
  it("is let go, and takes nothing from the one that is opened next", async () => {
    const world = new World();
    const dead = world.start([parks, naps]);
    void (await dead.runtime.session("s")).request("r", call("naps")).catch(() => undefined);
    await world.quiet();
    dead.kill();
    let isDown = true;
    const telemetry: Telemetry = { stepped: () => undefined, lost: () => undefined, resumes: () => undefined };
    const read: Journal["read"] = async (scope, from, to) => {
      if (isDown && to !== undefined) throw new Error("the disk is away"); // As the spans of its requests are looked for.
      return world.journal.read(scope, from, to);
    };
    const linger = { ms: Infinity, most: 9 };
    const runtime = runtimeIn(world, { telemetry, linger, journal: { ...world.journal, read } });
    await expect(runtime.session("s")).rejects.toThrow("the disk is away");
    isDown = false;
    const session = await runtime.session("s");
    const replies = session.replies("r");
    await world.quiet();
    for (let i = 0; i < 8; i++) {
      world.platform.advance(100_000);
      await world.quiet();
    }
    expect((await runtime.session("s")).state.scope.epoch).toBe(3);
    expect((await replies)[0]?.output.outcome.payload).toBe("rested");
  });
});

describe("a scope to which a step can not be told", () => {
  it("is lost, and nothing else is", async () => {
    const world = new World();
    const failing: unknown[] = [];
    const telemetry: Telemetry = {
      stepped: (_, { event }) => {
        if (event.type === "step.settled" && failing.length === 0)
          throw new Error(`no room for ${failing.push(event)}`);
      },
      lost: () => undefined,
    };
    const steps = defineTool({
      name: "steps",
      durable: true,
      execute: (_, ctx) => ctx.run("a", async () => "done"),
    });
    const runtime = runtimeIn(world, { telemetry, tools: [steps] });
    const session = await runtime.session("s");
    await expect(session.request("r", call("steps"))).rejects.toMatchObject({ code: "scope_lost" });
    const [reply] = await (await runtime.session("s")).replies("r");
    expect(reply?.output.outcome.payload).toBe("done");
  });
});

describe("a scope whose appends are done, and said to have failed", () => {
  it("is opened again for the letters that it is sent, but not without a pause", async () => {
    const world = new World();
    let [isWrong, isMended, claims] = [false, false, 0];
    const appendAll: Journal["appendAll"] = async (appends) => {
      const results = await world.journal.appendAll(appends);
      const saidOf = ({ scope }: Append, i: number): AppendResult | undefined =>
        isWrong && scope === "session:s" ? undefined : results[i];
      return appends.map((append, i) => saidOf(append, i) ?? { type: "failed", message: "EIO" });
    };
    const claim: Journal["claim"] = (scope, ...of) => {
      claims += scope === "session:s" ? 1 : 0;
      return world.journal.claim(scope, ...of);
    };
    const starts = defineTool({
      name: "starts",
      durable: true,
      execute: async (_, { processes }) => {
        await processes.start({ id: "p", input: toolCall("naps") });
        isWrong = !isMended;
        return (await processes.await("p")).type;
      },
    });
    const runtime = runtimeIn(world, { tools: [starts, naps], journal: { ...world.journal, appendAll, claim } });
    const session = await runtime.session("s");
    await expect(session.request("r", call("starts"))).rejects.toMatchObject({ code: "scope_lost" });
    await world.quiet(400);
    expect(claims).toBeLessThan(5);
    [isWrong, isMended] = [false, true];
    for (let i = 0; i < 20; i++) {
      world.platform.advance(60_000);
      await world.quiet();
    }
    const [reply] = await (await runtime.session("s")).replies("r");
    expect(reply?.output.outcome.payload).toBe("success");
  });
});

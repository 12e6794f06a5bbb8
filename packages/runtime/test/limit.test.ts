/** Tools with a limit: so many bodies run at a time over all sessions and hosts, and the others wait in a queue. */
import { why } from "@pawl/sansio-core";
import { beforeAll, describe, expect, it } from "vitest";
import { type ToolDefinition, defineTool } from "../src/index.ts";
import { type Process, World } from "./world.ts";
import { payloads } from "./words.ts";

/** No test waits for the file of the queues. */
beforeAll(async () => await import("../src/queue/queue-places.ts"));

interface Render {
  readonly of: string;
  readonly rest?: boolean;
}

/** A tool whose bodies run until they are told to end, with what it saw. */
const studio = (limit: ToolDefinition["limit"], more: Partial<ToolDefinition> = {}) => {
  const seen = { running: 0, most: 0, order: [] as string[] };
  const ends = new Map<string, () => void>();
  const render = defineTool({
    name: "render",
    durable: true,
    ...(limit === undefined ? {} : { limit }),
    ...more,
    execute: async (given, ctx) => {
      const { of, rest } = given as Render;
      seen.running += 1;
      seen.most = Math.max(seen.most, seen.running);
      seen.order.push(of);
      const { promise, resolve } = Promise.withResolvers<void>();
      ends.set(of, resolve);
      if (rest === true) {
        seen.running -= 1;
        await ctx.sleep(60_000);
        seen.running += 1;
      }
      await promise;
      seen.running -= 1;
      return of;
    },
  } as ToolDefinition);
  return { render, seen, end: (of: string): void => ends.get(of)?.() };
};

const ask = async (process: Process, id: string, of: string, more: object = {}, how: object = {}) =>
  (await process.runtime.session(id)).request(of, [{ label: "c1", tool: "render", args: { of, ...more } }], how);

const lease = { ttlMs: 9000 };

const pass = async (world: World, ms: number): Promise<void> => {
  for (let left = ms; left > 0; left -= 500) {
    world.platform.advance(Math.min(left, 500));
    await world.quiet(20);
  }
};

describe("a tool with a limit of concurrency", () => {
  it("runs as many bodies as that, over sessions, and the next when one has ended", async () => {
    const world = new World();
    const { render, seen, end } = studio({ concurrency: 2 });
    const host = world.start([render]);
    const replies = ["a", "b", "c", "d"].map((of) => ask(host, `s-${of}`, of));
    await world.quiet();
    expect(seen).toMatchObject({ running: 2, most: 2 });
    for (const of of ["a", "b", "c", "d"]) {
      await expect.poll(() => seen.order.includes(of)).toBe(true);
      end(of);
      await world.quiet();
    }
    expect((await Promise.all(replies)).flatMap(payloads)).toEqual(["a", "b", "c", "d"]);
    expect(seen.most).toBe(2);
    await host.runtime.close();
    expect(world.platform.timers).toBe(0);
  });

  it("begins those of a higher priority first, and says what the others wait for", async () => {
    const world = new World();
    const { render, seen, end } = studio({ concurrency: 1, queue: "gpu" });
    const host = world.start([render]);
    const first = ask(host, "s", "first");
    await world.quiet();
    const later = ask(host, "t", "later");
    await world.quiet();
    const urgent = ask(host, "u", "urgent", {}, { priority: 9 });
    await world.quiet();
    const session = await host.runtime.session("t");
    expect(await session.status("later")).toMatchObject({ state: "waiting", waitsFor: "executor" });
    expect(why(session.state).calls[0]?.what).toEqual({ type: "queue", queue: "gpu" });
    end("first");
    await world.quiet();
    end("urgent");
    await world.quiet();
    end("later");
    await Promise.all([first, urgent, later]);
    expect(seen.order).toEqual(["first", "urgent", "later"]);
    await host.runtime.close();
  });

  it("has a line for each key", async () => {
    const world = new World();
    const { render, seen } = studio({ concurrency: 1, by: (args) => (args as Render).of.slice(0, 1) });
    const host = world.start([render]);
    for (const of of ["a1", "a2", "b1"]) void ask(host, of, of).catch(() => undefined);
    await world.quiet();
    expect(seen.order.toSorted()).toEqual(["a1", "b1"]);
    await host.runtime.close();
  });

  it("never begins a call that is cancelled while it waits, and gives its turn to the next", async () => {
    const world = new World();
    const { render, seen, end } = studio({ concurrency: 1 });
    const host = world.start([render]);
    const first = ask(host, "s", "first");
    await world.quiet();
    const gone = ask(host, "t", "gone");
    await world.quiet();
    const last = ask(host, "u", "last");
    await world.quiet();
    await (await host.runtime.session("t")).cancel({ request: "gone" });
    expect((await gone)[0]?.output.outcome.status).toBe("cancelled");
    end("first");
    await world.quiet();
    end("last");
    await Promise.all([first, last]);
    expect(seen.order).toEqual(["first", "last"]);
    await host.runtime.close();
  });

  it("gives the place of a body that is suspended to others, and a place back to it", async () => {
    const world = new World();
    const { render, seen, end } = studio({ concurrency: 1 });
    const host = world.start([render], { linger: { ms: 0 } });
    const rests = ask(host, "s", "rests", { rest: true });
    await world.quiet();
    const next = ask(host, "t", "next");
    await pass(world, 30_000);
    expect(seen.order).toEqual(["rests", "next"]);
    await pass(world, 60_000);
    expect(seen.order).toEqual(["rests", "next"]);
    end("next");
    await next;
    await expect.poll(() => seen.order).toEqual(["rests", "next", "rests"]);
    await world.quiet();
    end("rests");
    expect(payloads(await rests)).toEqual(["rests"]);
    await host.runtime.close();
  });

  it("waits for a place before it is tried again", async () => {
    const world = new World();
    const tried: string[] = [];
    const flaky = defineTool({
      name: "render",
      durable: true,
      limit: { concurrency: 1 },
      retry: { attempts: 2, firstDelayMs: 1000 },
      execute: (given) => {
        const { of } = given as Render;
        tried.push(of);
        if (of === "flaky" && tried.filter((one) => one === of).length === 1)
          throw Object.assign(new Error("try again"), { code: "busy", retry: { type: "safe" } });
        return of;
      },
    });
    const host = world.start([flaky]);
    const one = ask(host, "s", "flaky");
    const two = ask(host, "t", "plain");
    await pass(world, 3000);
    await Promise.all([one, two]);
    expect(tried.slice(0, 2)).toEqual(["flaky", "plain"]);
    await host.runtime.close();
  });
});

describe("a tool with a limit of its rate", () => {
  it("begins so many calls in a second", async () => {
    const world = new World();
    const { render, seen } = studio({ perSecond: 2 });
    const host = world.start([render]);
    for (const of of ["a", "b", "c", "d", "e"]) void ask(host, of, of).catch(() => undefined);
    await world.quiet();
    expect(seen.order).toHaveLength(2);
    await pass(world, 1000);
    expect(seen.order).toHaveLength(4);
    await pass(world, 1000);
    expect(seen.order).toHaveLength(5);
    await host.runtime.close();
  });
});

describe("a limit over two hosts of a store", () => {
  it("holds for both, and the place of a host that died is free when its lease has ended", async () => {
    const world = new World();
    const { render, seen, end } = studio({ concurrency: 1 });
    const [one, two] = [world.start([render], { lease }), world.start([render], { lease })];
    void ask(one, "s", "lost").catch(() => undefined);
    await world.quiet();
    const other = ask(two, "t", "other");
    await pass(world, 5000);
    expect(seen.order).toEqual(["lost"]);
    one.kill();
    await pass(world, 15_000);
    expect(seen.order.slice(0, 2)).toEqual(["lost", "other"]);
    end("other");
    await other;
    await expect.poll(async () => (await pass(world, 500), seen.order)).toEqual(["lost", "other", "lost"]);
    end("lost");
    const session = await two.runtime.session("s");
    expect(payloads(await session.replies("lost"))).toEqual(["lost"]);
    await two.runtime.close();
  });

  it("lets a call that waited on a host that died wait on, and has begun it once", async () => {
    const world = new World();
    const { render, seen, end } = studio({ concurrency: 1 });
    const [one, two] = [world.start([render], { lease }), world.start([render], { lease })];
    const held = ask(two, "t", "held");
    await world.quiet();
    void ask(one, "s", "waits").catch(() => undefined);
    await pass(world, 1000);
    one.kill();
    await pass(world, 15_000);
    const session = await two.runtime.session("s");
    expect(session.state.calls.at("waits:c1")).toMatchObject({ phase: "queued" });
    end("held");
    await held;
    await expect.poll(async () => (await pass(world, 500), seen.order)).toEqual(["held", "waits"]);
    expect(session.state.calls.at("waits:c1")).toMatchObject({ phase: "running", body: { run: 1, resumes: 0 } });
    end("waits");
    expect(payloads(await session.replies("waits"))).toEqual(["waits"]);
    await two.runtime.close();
  });
});

const of = (limit: unknown) => () => defineTool({ name: "render", limit, execute: () => 1 } as never);

describe("a limit that could not hold", () => {
  it("is refused with what was wanted", () => {
    expect(of({})).toThrow("`limit` of tool `render` limits nothing: give it `concurrency`, `perSecond` or both");
    expect(of({ concurrency: 0 })).toThrow("`limit.concurrency` of tool `render`: expected 1 or more, found 0");
    expect(of({ perSecond: -1 })).toThrow("`limit.perSecond` of tool `render`: expected a number above 0, found -1");
    expect(of({ concurrency: 1, by: "id" })).toThrow('expected a function of the arguments, found "id"');
    expect(of({ most: 1 })).toThrow("`limit.most` is no option: expected some of concurrency, perSecond, queue, by");
    expect(of(3)).toThrow("expected { concurrency, perSecond, queue, by }, found 3");
  });
});

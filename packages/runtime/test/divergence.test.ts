/** New code under live work: a call that one version cannot go on with is parked, and a roll-back heals it. */
import type { Event } from "@pawl/sansio-core";
import { describe, expect, it } from "vitest";
import { type HostPort, type ToolContext, type ToolDefinition, defineTool } from "../src/index.ts";
import type { LogEntry } from "../src/driver.ts";
import { World } from "./world.ts";

const calls = [{ label: "c1", tool: "books", args: {} }];
type Body = (ctx: ToolContext) => Promise<unknown>;

const books = (body: Body, more: Partial<ToolDefinition> = {}): ToolDefinition =>
  defineTool({ name: "books", durable: true, ...more, execute: (_, ctx) => body(ctx) });

const ran: string[] = [];
const step = (ctx: ToolContext, id: string, input: unknown = {}, recovery: "again" | "once" = "again") =>
  ctx.run(id, () => (ran.push(id), id), { input: input, recovery });
const hotel =
  (input: unknown): Body =>
  async (ctx) => [await step(ctx, "hotel", input), await ctx.waitFor("go")];
const v1 = hotel({ nights: 2, city: "Kyiv" });
const v2 = hotel({ nights: 3, city: "Kyiv", board: "half" });

const eventsOf = async (world: World): Promise<readonly Event[]> =>
  (await world.journal.read("session:s", 1)).map(({ line }) => (JSON.parse(line) as { readonly event: Event }).event);
const ofType = async <T extends Event["type"]>(world: World, type: T) =>
  (await eventsOf(world)).filter((event): event is Extract<Event, { readonly type: T }> => event.type === type);

/** Starts a release of the code, and goes on with the call until nothing moves. */
const release = async (world: World, tools: readonly ToolDefinition[], how: Parameters<World["start"]>[1] = {}) => {
  const process = world.start(tools, how);
  const session = await process.runtime.session("s");
  const replies: unknown[] = [];
  void session
    .request("r", calls)
    .then(([reply]) => replies.push(reply?.output.outcome))
    .catch(() => undefined);
  await world.quiet();
  return { ...process, session, replies, close: () => process.runtime.close() };
};

const phaseOf = ({ session }: Awaited<ReturnType<typeof release>>): string | undefined =>
  session.state.calls.at("r:c1")?.phase;

const go = async ({ session }: Awaited<ReturnType<typeof release>>, world: World): Promise<void> => {
  const [wait] = session.state.waits.rows();
  if (wait === undefined) throw new Error("nothing waits");
  await session.report({ type: "wait.resolved", key: wait.key, resolution: { status: "ok", payload: "went" } });
  await world.quiet();
};

const paid =
  (input: unknown): Body =>
  async (ctx) => [await step(ctx, "pay", {}, "once"), await step(ctx, "hotel", input), await ctx.waitFor("go")];

const hasty: Body = async (ctx) => {
  const word = Promise.withResolvers<string>();
  const end = Promise.withResolvers<string>();
  const model = ctx.run("model", () => (word.resolve("hi"), end.promise));
  await ctx.run("write", () => word.promise.then((said) => (end.resolve("all"), said)), { input: await word.promise });
  await model;
  return ctx.waitFor("go");
};

/** As it is without the patch, and with it. */
const old: Body = async (ctx) => [await step(ctx, "a"), await ctx.waitFor("go"), await step(ctx, "b")];
const young: Body = async (ctx) => {
  const a = await step(ctx, "a");
  const more = ctx.patched("check") ? [await step(ctx, "check")] : [];
  return [a, ...more, await ctx.waitFor("go"), await step(ctx, "b"), ctx.patched("check")];
};

const patches = async (world: World): Promise<readonly unknown[]> =>
  (await eventsOf(world)).flatMap((event) =>
    "patched" in event && event.patched !== undefined ? [event.patched] : [],
  );

/** Asks before all that is on record. */
const moved: Body = async (ctx) => {
  const isNew = ctx.patched("check");
  const a = await step(ctx, "a");
  const more = isNew ? [await step(ctx, "check")] : [];
  return [a, ...more, await ctx.waitFor("go"), isNew];
};

describe("a release whose code asks for something else", () => {
  it("parks the call; the release before goes on with it, and no step runs twice", async () => {
    ran.length = 0;
    const world = new World();
    await (await release(world, [books(v1)], { codeVersion: "1" })).close();
    const bad = await release(world, [books(v2)], { codeVersion: "2" });
    expect([phaseOf(bad), bad.replies]).toEqual(["unknown", []]);
    const [diverged] = await ofType(world, "call.diverged");
    expect(diverged).toMatchObject({
      version: "2",
      position: 1,
      differs: {
        expected: { key: "durable-step:hotel", kind: "step", hash: expect.stringMatching(/^[0-9a-f]{64}$/) },
        found: { key: "durable-step:hotel", kind: "step", hash: expect.stringMatching(/^[0-9a-f]{64}$/) },
        fields: [
          { path: "/board", found: '"half"' },
          { path: "/nights", expected: "2", found: "3" },
        ],
      },
    });
    await bad.close();
    const again = await release(world, [books(v2)], { codeVersion: "2" });
    expect([phaseOf(again), (await ofType(world, "call.diverged")).length]).toEqual(["unknown", 1]);
    await again.close();
    const back = await release(world, [books(v1)], { codeVersion: "1" });
    await go(back, world);
    expect(back.replies).toEqual([{ status: "success", payload: ["hotel", "went"] }]);
    expect(ran).toEqual(["hotel"]);
    expect((await ofType(world, "call.resumed")).map(({ cause, version }) => `${cause} ${version}`)).toEqual([
      "owner_lost 2",
      "other_version 1",
    ]);
  });

  it("is not begun again in an attempt by a version that diverged, however often hosts change", async () => {
    const world = new World();
    await (await release(world, [books(v1)], { codeVersion: "1" })).close();
    for (let n = 0; n < 3; n++) {
      await (await release(world, [books(v2)], { codeVersion: "2" })).close();
      await (await release(world, [books(v1)], { codeVersion: "1" })).close();
    }
    expect(await ofType(world, "call.diverged")).toHaveLength(1);
    const last = await release(world, [books(v1)], { codeVersion: "1" });
    await go(last, world);
    expect(last.replies).toEqual([{ status: "success", payload: ["hotel", "went"] }]);
  });

  it("has a version of its own where its tool says so, or where neither says one: one try for each start", async () => {
    const world = new World();
    await (await release(world, [books(v1, { version: "a" })], { codeVersion: "1" })).close();
    const named = await release(world, [books(v2, { version: "b" })], { codeVersion: "1" });
    expect((await ofType(world, "call.diverged")).map(({ version }) => version)).toEqual(["b"]);
    await named.close();
    for (let n = 2; n < 4; n++) {
      await (await release(world, [books(v2)])).close();
      const versions = (await ofType(world, "call.diverged")).map(({ version }) => version);
      expect([versions.length, new Set(versions).size]).toEqual([n, n]);
      expect(versions.at(-1)).toMatch(/^text:[0-9a-f]{12}@p\d+\//);
    }
    await go(await release(world, [books(v1, { version: "a" })]), world);
    expect((await ofType(world, "call.settled")).length).toBe(1);
  });

  it("goes on within one process when its tool is registered again", async () => {
    const world = new World();
    await (await release(world, [books(v1)])).close();
    const bad = await release(world, [books(v2)]);
    expect(phaseOf(bad)).toBe("unknown");
    bad.runtime.registry.register(books(v1));
    await world.quiet();
    await go(bad, world);
    expect(bad.replies).toEqual([{ status: "success", payload: ["hotel", "went"] }]);
  });

  it("waits where the next release lacks the tool, and ends by nothing but a word", async () => {
    const world = new World();
    await (await release(world, [books(v1)], { codeVersion: "1" })).close();
    await (await release(world, [books(v2)], { codeVersion: "2" })).close();
    const without = await release(world, [], { codeVersion: "3" });
    world.platform.advance(3_600_000);
    await world.quiet();
    expect(phaseOf(without)).toBe("unknown");
    await without.session.cancel({ request: "r" });
    await world.quiet();
    expect(without.replies).toMatchObject([{ status: "cancelled" }]);
  });

  it("leaves memory, and is taken up by the next release by itself", async () => {
    const world = new World();
    await (await release(world, [books(v1)], { codeVersion: "1" })).close();
    let loads = 0;
    const { load } = world.journal;
    const faulty = { load: (...of: Parameters<typeof load>) => ((loads += 1), load(...of)) };
    const lease = { lease: { ttlMs: 3000 }, linger: { ms: 0 } };
    const bad = world.start([books(v2)], { codeVersion: "2", ...lease, faulty });
    for (let beat = 0; beat < 5; beat++) {
      await world.quiet();
      world.platform.advance(1000);
    }
    expect([bad.runtime.inMemory, loads, (await ofType(world, "call.diverged")).length]).toEqual([0, 0, 1]);
    await bad.runtime.close();
    world.start([books(v1)], { codeVersion: "1", ...lease });
    await world.quiet();
    expect((await ofType(world, "call.resumed")).at(-1)).toMatchObject({ cause: "other_version", version: "1" });
  });

  it("is released by a person's word: from the top, with what may run only once answered from the log", async () => {
    ran.length = 0;
    const world = new World();
    await (await release(world, [books(paid(1))], { codeVersion: "1" })).close();
    const bad = await release(world, [books(paid(2))], { codeVersion: "2" });
    expect(ran).toEqual(["pay", "hotel"]);
    await bad.session.report({ type: "outcome.resolved", call: "r:c1", resolved: { type: "release" }, by: "ada" });
    await world.quiet();
    await go(bad, world);
    expect(bad.replies).toEqual([{ status: "success", payload: ["pay", "hotel", "went"] }]);
    expect(ran).toEqual(["pay", "hotel", "hotel"]);
  });

  it("tells observers and the log, in plain words and without values", async () => {
    const entries: LogEntry[] = [];
    const world = new World();
    await (await release(world, [books(v1)], { codeVersion: "1" })).close();
    const bad = await release(world, [books(v2)], { codeVersion: "2", log: (entry) => void entries.push(entry) });
    const told = entries.find(({ name }) => name === "call.diverged");
    expect(told).toMatchObject({ level: "error", fields: { call: "r:c1", version: "2", differs: "/board, /nights" } });
    expect(told?.fields["message"]).toBe(
      "the code of tool `books` changed: expected step `hotel`, found it with another input (/board, /nights)",
    );
    expect(JSON.stringify(entries)).not.toContain("half");
    expect(entries.find(({ name }) => name === "call.unknown")).toMatchObject({ fields: { cause: "diverged" } });
    const watching = bad.session.observe({ from: { scope: "session:s", seq: 0, index: 0 } });
    for await (const frame of watching) {
      if (frame.type !== "observed" || frame.observation.type !== "call_unknown") continue;
      expect(frame.observation).toMatchObject({ call: "r:c1", cause: "diverged" });
      break;
    }
  });

  it("names what it expected where the body ends, or asks for something new", async () => {
    for (const [body, found, message] of [
      [async () => "early", undefined, "found its end"],
      [(ctx: ToolContext) => step(ctx, "flight"), { key: "durable-step:flight", kind: "step" }, "found step `flight`"],
    ] as const) {
      const world = new World();
      await (await release(world, [books(v1)], { codeVersion: "1" })).close();
      const entries: LogEntry[] = [];
      await release(world, [books(body)], { codeVersion: "2", log: (entry) => void entries.push(entry) });
      const [diverged] = await ofType(world, "call.diverged");
      expect(diverged?.differs).toMatchObject({ expected: { key: "durable-step:hotel", kind: "step" } });
      expect(diverged?.differs?.found).toEqual(found === undefined ? undefined : expect.objectContaining(found));
      expect(entries.find(({ name }) => name === "call.diverged")?.fields["message"]).toContain(message);
    }
  });

  it("names the step that it acted on before that was on record", async () => {
    const world = new World();
    await (await release(world, [books(hasty)])).close();
    const entries: LogEntry[] = [];
    await release(world, [books(hasty)], { log: (entry) => void entries.push(entry) });
    world.platform.advance(40_000);
    await world.quiet();
    const [diverged] = await ofType(world, "call.diverged");
    const expected = { key: "durable-step:write", kind: "step" };
    expect(diverged).toMatchObject({
      found: "no request at all",
      differs: { expected, acted_on: "durable-step:model" },
    });
    const message = "expected step `write`, found no request at all: it may have acted on step `model` before that was";
    expect(entries.find(({ name }) => name === "call.diverged")?.fields["message"]).toContain(message);
  });

  it("asks the host's resolver as before, and a resolver that runs it again makes no loop without a pause", async () => {
    let asked = 0;
    const host: HostPort = { resolveOutcome: async () => ((asked += 1), { type: "run_again" }) };
    const world = new World();
    await (await release(world, [books(v1)], { codeVersion: "1" })).close();
    await release(world, [books(v2)], { codeVersion: "2", host });
    expect(asked).toBeGreaterThan(1);
    expect(asked).toBeLessThan(6);
  });
});

describe("`ctx.patched`", () => {
  it("is true in a new call, and stands in the next event of the run", async () => {
    const world = new World();
    const one = await release(world, [books(young)]);
    await go(one, world);
    expect(one.replies).toEqual([{ status: "success", payload: ["a", "check", "went", "b", true] }]);
    expect(await patches(world)).toEqual([{ check: true }]);
    const [, asked] = await ofType(world, "effect.requested");
    expect(asked).toMatchObject({ key: "durable-step:check", patched: { check: true } });
  });

  it("is false in a call that older code has begun, also after the next restart", async () => {
    const world = new World();
    await (await release(world, [books(old)])).close();
    await (await release(world, [books(young)])).close();
    const two = await release(world, [books(young)]);
    await go(two, world);
    expect(two.replies).toEqual([{ status: "success", payload: ["a", "went", "b", false] }]);
    expect(await patches(world)).toEqual([{ check: false }]);
  });

  it("is what was recorded, wherever the run stands when it asks", async () => {
    const world = new World();
    await (await release(world, [books(young)])).close();
    const two = await release(world, [books(moved)]);
    await go(two, world);
    expect(two.replies).toEqual([{ status: "success", payload: ["a", "check", "went", true] }]);
  });

  it("is answered anew in the next life", async () => {
    const world = new World();
    const lives = defineTool({
      name: "books",
      durable: true,
      execute: async ({ n = 0 }: { readonly n?: number }, ctx) => {
        if (n === 0) {
          await step(ctx, "a");
          await ctx.waitFor("go");
          return ctx.continueAs({ n: 1 });
        }
        return [ctx.patched("check"), await step(ctx, "a")];
      },
    });
    const one = await release(world, [lives]);
    await go(one, world);
    expect(one.replies).toEqual([{ status: "success", payload: [true, "a"] }]);
  });

  it("is refused in a scope of protocol 1, and takes a name", async () => {
    const world = new World(1);
    const one = await release(world, [books(async (ctx) => ctx.patched("x"))]);
    expect(one.replies).toMatchObject([{ status: "failure" }]);
    const two = await release(new World(), [
      books(async (ctx) => {
        try {
          return ctx.patched(" ");
        } catch (thrown) {
          return thrown instanceof Error && thrown.message;
        }
      }),
    ]);
    expect(two.replies).toEqual([
      { status: "success", payload: 'the name of a patch: expected a text that is not blank, found " "' },
    ]);
  });
});

describe("under protocol 1", () => {
  it("a call that diverged ends where nobody resolves it, and no event has a version", async () => {
    const world = new World(1);
    await (await release(world, [books(v1)], { codeVersion: "1" })).close();
    const bad = await release(world, [books(v2)], { codeVersion: "2", options: { divergenceMs: 1000 } });
    expect(bad.replies).toMatchObject([{ status: "failure", payload: { code: "tool_outcome_unknown" } }]);
    expect(JSON.stringify(await eventsOf(world))).not.toMatch(/version|differs|divergence_ms/);
  });
});

/** Values that find no room: whoever they are of hears so, by a code, and the scope with all else in it goes on. */
import type { Json } from "@pawl/tool-value";
import { describe, expect, it } from "vitest";
import {
  EffectError,
  type HostPort,
  type Journal,
  type Session,
  type ToolDefinition,
  defineTool,
} from "../src/index.ts";
import type { Append, AppendResult, BlobStore } from "../src/driver.ts";
import { World } from "./world.ts";

const large = "x".repeat(70_000);
const noRoom = Object.assign(new Error("ENOSPC: no space left on device, write '/secret/place'"), { code: "ENOSPC" });

const use = (tool: string, args: Json = {}) => [{ label: "c", tool, args }];
const failure = { status: "failure", payload: { class: "resource_limit", code: "value_not_stored" } };

const findsNoRoom = (): Promise<never> => Promise.reject(noRoom);

/** A runtime whose store of large values has room, or none. */
const begin = async (tools: readonly ToolDefinition[], host: HostPort = {}, protocol?: number) => {
  const world = new World(protocol);
  const disk = { isFull: true, puts: 0, most: Infinity, refused: findsNoRoom };
  const blobs = world.journal.blobs as BlobStore;
  const put: BlobStore["put"] = async (...of) => {
    disk.puts += 1;
    return disk.isFull || disk.puts > disk.most ? disk.refused() : blobs.put(...of);
  };
  const faults: unknown[] = [];
  const fault = (what: string, thrown: unknown): void => void faults.push([what, thrown]);
  const { runtime } = world.start(tools, { faulty: { blobs: { ...blobs, put } }, host: { ...host, fault } });
  const session = await runtime.session("s");
  const outcome = async (request: string, tool: string, args: Json = {}): Promise<unknown> =>
    (await session.request(request, use(tool, args)))[0]?.output.outcome;
  return { world, runtime, session, disk, faults, outcome };
};

const epochOf = ({ state }: Session): number => state.scope.epoch;

describe("a value that finds no room", () => {
  it("as the result of a call ends that call, and no other", async () => {
    const owner = defineTool({ name: "owner", execute: () => large });
    const waits = defineTool({
      name: "waits",
      execute: () => new Promise((resolve) => setTimeout(() => resolve("ok"), 30)),
    });
    const { runtime, session, faults, outcome } = await begin([owner, waits]);
    const other = session.request("r0", use("waits"));
    expect(await outcome("r", "owner")).toMatchObject(failure);
    expect((await other)[0]?.output.outcome).toMatchObject({ payload: "ok" });
    expect(await runtime.session("s")).toBe(session);
    expect(epochOf(session)).toBe(1);
    expect(faults).toEqual([["session:s: a value of `call.settled` was not stored", noRoom]]);
  });

  it("says nothing to a model of where it was to be stored", async () => {
    const { outcome } = await begin([defineTool({ name: "t", execute: () => large })]);
    expect(JSON.stringify(await outcome("r", "t"))).not.toMatch(/ENOSPC|secret/);
  });

  it("as the result of a step is that step's error, which the body may catch", async () => {
    const ran: string[] = [];
    const catching = defineTool({
      name: "catching",
      durable: true,
      execute: async (_, ctx) => {
        const made = await ctx.run("make", () => (ran.push("made"), large)).catch((thrown: unknown) => thrown);
        return made instanceof EffectError ? made.code : "no error";
      },
    });
    const plain = defineTool({
      name: "plain",
      durable: true,
      execute: async (_, ctx) => ctx.run("make", () => large),
    });
    const { session, outcome } = await begin([catching, plain]);
    expect(await outcome("r1", "catching")).toMatchObject({ payload: "value_not_stored" });
    expect(await outcome("r2", "plain")).toMatchObject(failure);
    expect([ran, epochOf(session)]).toEqual([["made"], 1]);
  });

  it("as a host's answer, a preparation or what a hook says is the error of whoever asked", async () => {
    const asks = defineTool({ name: "asks", durable: true, execute: (_, ctx) => ctx.host("make", {}) });
    const prepares = defineTool({ name: "prepares", prepare: () => large, execute: () => "never" });
    const { session, outcome } = await begin([asks, prepares], { request: async () => large });
    expect(await outcome("r1", "asks")).toMatchObject(failure);
    expect(await outcome("r2", "prepares")).toMatchObject(failure);
    expect(epochOf(session)).toBe(1);
  });

  it("as the input of a step is that step's error: it never runs, and what was asked after it does", async () => {
    const ran: string[] = [];
    const body = defineTool({
      name: "body",
      durable: true,
      execute: async (_, ctx) => {
        const made = ctx.run("large", () => ran.push("large"), { input: { large } });
        const after = ctx.run("after", () => ran.push("after"));
        return [await made.catch((thrown: EffectError) => thrown.code), await after];
      },
    });
    const plain = defineTool({
      name: "plain",
      durable: true,
      execute: (_, ctx) => ctx.run("large", () => "never", { input: { large } }),
    });
    const { world, session, outcome } = await begin([body, plain]);
    expect(await outcome("r1", "body")).toMatchObject({ payload: ["value_not_stored", 1] });
    expect(await outcome("r2", "plain")).toMatchObject(failure);
    expect([ran, epochOf(session)]).toEqual([["after"], 1]);
    const lines = (await world.journal.read("session:s", 1)).map(({ line }) => JSON.parse(line).event);
    const asked = lines.filter(({ type, call }) => type === "effect.requested" && call === "r1:c");
    expect(asked.map(({ key, effect, refused }) => [key, effect.input, refused?.code])).toEqual([
      ["durable-step:large", null, "value_not_stored"],
      ["durable-step:after", {}, undefined],
    ]);
  });

  it("as the arguments of a batch, or the input of a host request or a trigger, is the error of that", async () => {
    const asks = defineTool({
      name: "asks",
      durable: true,
      execute: async (_, ctx) => {
        const trigger = { sourceType: "s", sourceKey: "k", payload: large, idempotencyKey: "i" };
        const asked = [
          ctx.callAll([{ label: "1", tool: "done", args: { large } }]),
          ctx.host("make", { large }),
          ctx.triggers.emit(trigger),
        ];
        return Promise.all(asked.map((one) => one.then(() => "done").catch((thrown: EffectError) => thrown.code)));
      },
    });
    const done = defineTool({ name: "done", execute: () => "done" });
    const { session, disk, outcome } = await begin([asks, done], { request: async () => "made" });
    expect(await outcome("r1", "asks")).toMatchObject({ payload: Array.from({ length: 3 }, () => "value_not_stored") });
    disk.isFull = false;
    expect(await outcome("r2", "asks")).toMatchObject({ payload: ["done", "done", "trigger_invalid"] });
    expect(epochOf(session)).toBe(1);
  });

  it("as a reply of a batch ends the call whose body made it, and no other", async () => {
    const makes = defineTool({ name: "makes", execute: () => large });
    const calls = defineTool({
      name: "calls",
      durable: true,
      execute: async (_, ctx) => (await ctx.callAll([{ label: "1", tool: "makes", args: {} }])).length,
    });
    const { session, disk, outcome } = await begin([makes, calls]);
    Object.assign(disk, { isFull: false, most: 1 }); // There is room for what it made, once.
    expect(await outcome("r1", "calls")).toMatchObject(failure);
    disk.most = Infinity;
    expect(await outcome("r2", "calls")).toMatchObject({ payload: 1 });
    expect([epochOf(session), session.state.batches.size, session.state.calls.size]).toEqual([1, 0, 0]);
  });

  it("as a reply of a batch whose maker has ended meanwhile, as it may under protocol 1, costs nothing", async () => {
    const [putting, failing] = [Promise.withResolvers<void>(), Promise.withResolvers<never>()];
    const makes = defineTool({ name: "makes", execute: () => large });
    const leaves = defineTool({
      name: "leaves",
      durable: true,
      execute: async (_, ctx) => {
        void ctx.callAll([{ label: "1", tool: "makes", args: {} }]).catch(() => undefined);
        await putting.promise;
        return "left";
      },
    });
    const { world, session, disk, faults, outcome } = await begin([makes, leaves], {}, 1);
    Object.assign(disk, { isFull: false, most: 1, refused: () => (putting.resolve(), failing.promise) });
    expect(await outcome("r", "leaves")).toMatchObject({ payload: "left" });
    failing.reject(noRoom);
    await world.quiet();
    expect(faults).toEqual([["session:s: a value of `replies.recorded` was not stored", noRoom]]);
    expect([epochOf(session), session.runner.isAbandoned]).toEqual([1, false]);
  });

  it("as the arguments to continue with ends its call, and as what a model reads is told instead", async () => {
    const again = defineTool({ name: "again", durable: true, execute: (_, ctx) => ctx.continueAs({ large }) });
    const small = defineTool({ name: "small", execute: () => "small" });
    const { session, outcome } = await begin([again, small], { project: () => [{ type: "text", text: large }] });
    expect(await outcome("r1", "again")).toMatchObject(failure);
    const [reply] = await session.request("r2", use("small"));
    expect(reply?.parts).toMatchObject([{ text: expect.stringContaining("was not kept") }]);
    expect(epochOf(session)).toBe(1);
  });

  it("holds back what its body asks behind it, and its body in memory", async () => {
    const runs: string[] = [];
    const body = defineTool({
      name: "body",
      durable: true,
      execute: async (_, ctx) => {
        runs.push("run");
        const go = ctx.waitFor("go");
        const made = ctx.run("large", () => "made", { input: { large } });
        return ctx.race([go, made]);
      },
    });
    const world = new World();
    const blobs = world.journal.blobs as BlobStore;
    const gate = Promise.withResolvers<void>();
    const put: BlobStore["put"] = (...of) => gate.promise.then(() => blobs.put(...of));
    const { runtime } = world.start([body], { faulty: { blobs: { ...blobs, put } } });
    const replies = (await runtime.session("s")).request("r", use("body"));
    await world.quiet();
    for (let i = 0; i < 3; i++) {
      world.platform.advance(2500);
      await world.quiet();
    }
    gate.resolve();
    expect((await replies)[0]?.output.outcome).toMatchObject({ payload: "made" });
    expect(runs).toEqual(["run"]);
  });

  it("as arguments is refused, with nothing recorded, and taken when there is room", async () => {
    const { world, session, disk, outcome } = await begin([defineTool({ name: "t", execute: () => "done" })]);
    const refused = {
      name: "Refused",
      code: "value_not_stored",
      message: expect.stringContaining("request.submitted"),
    };
    await expect(outcome("r", "t", { large })).rejects.toMatchObject(refused);
    await expect(outcome("r", "t", { large })).rejects.toMatchObject(refused);
    const lines = (await world.journal.read("session:s", 1)).map(({ line }) => line);
    expect([lines.join("").includes("request.submitted"), epochOf(session)]).toEqual([false, 1]);
    disk.isFull = false;
    expect(await outcome("r", "t", { large })).toMatchObject({ payload: "done" });
    disk.isFull = true;
    expect(await outcome("r", "t", { large })).toMatchObject({ payload: "done" }); // It is known already.
  });

  it("as a word from outside is refused, and may be said again", async () => {
    const waits = defineTool({
      name: "waits",
      durable: true,
      execute: async (_, ctx) => (await ctx.waitFor("go")) === large,
    });
    const { world, session, disk } = await begin([waits]);
    const replies = session.request("r", use("waits"));
    await world.quiet();
    const key = session.state.waits.rows()[0]?.key as string;
    const say = () => session.resolveById(key, { status: "ok", payload: large }, "ann");
    await expect(say()).rejects.toMatchObject({ code: "value_not_stored" });
    disk.isFull = false;
    expect(await say()).toEqual({ status: "accepted" });
    expect((await replies)[0]?.output.outcome).toMatchObject({ payload: true });
    expect(epochOf(session)).toBe(1);
  });

  it("is put once where there is room, and read while it is on its way", async () => {
    const { session, disk, outcome } = await begin([defineTool({ name: "t", execute: (args) => args })]);
    disk.isFull = false;
    expect(await outcome("r", "t", { large })).toMatchObject({ payload: { large } });
    expect(disk.puts).toBe(2); // The arguments and the output.
    expect(epochOf(session)).toBe(1);
  });

  it("keeps nobody waiting where its scope is lost before it is stored", async () => {
    const world = new World();
    const puts: string[] = [];
    const put: BlobStore["put"] = (_, name) => new Promise(() => void puts.push(name));
    const blobs = { ...(world.journal.blobs as BlobStore), put };
    const { runtime } = world.start([defineTool({ name: "t", execute: () => large })], { faulty: { blobs } });
    const session = await runtime.session("s");
    session.request("r", use("t")).catch(() => undefined);
    while (puts.length === 0) await new Promise((resolve) => setImmediate(resolve));
    const told = expect(session.runner.whenDurable()).rejects.toMatchObject({ code: "scope_lost" });
    session.runner.abandon("for the test");
    await told;
  });

  it("is waited for when the runtime closes: its call has ended", async () => {
    const { world, runtime, session, disk } = await begin([defineTool({ name: "t", execute: () => large })]);
    disk.isFull = false;
    const replies = session.request("r", use("t"), { keep: true });
    replies.catch(() => undefined);
    while (disk.puts === 0) await new Promise((resolve) => setImmediate(resolve));
    await runtime.close();
    const lines = (await world.journal.read("session:s", 1)).map(({ line }) => line);
    expect(lines.join("")).toContain("call.settled");
  });
});

/** A journal that has no room for a line of so many characters, in a store without a place for large values. */
const beginFull = async (tools: readonly ToolDefinition[], most: number) => {
  const world = new World();
  const { blobs: _, ...journal } = world.journal;
  const full = { refused: 0 };
  const isTooLong = ({ lines }: Append): boolean => lines.some(({ line }) => line.length > most);
  const appendAll: Journal["appendAll"] = async (appends) => {
    const results: AppendResult[] = [];
    for (const append of appends) {
      if (isTooLong(append)) full.refused += 1;
      const [result] = isTooLong(append) ? [{ type: "full" } as const] : await journal.appendAll([append]);
      results.push(result ?? { type: "failed", message: "no result" });
    }
    return results;
  };
  const { runtime } = world.start(tools, { faulty: { appendAll, blobs: undefined as never } });
  const call = async (request: string, tool: string): Promise<unknown> =>
    (await (await runtime.session("s")).request(request, use(tool)))[0]?.output.outcome;
  return { world, runtime, full, call };
};

describe("a line that its journal has no room for", () => {
  const makes = defineTool({ name: "makes", durable: true, execute: () => "y".repeat(30_000) });
  const small = defineTool({ name: "small", execute: () => "small" });

  it("costs the scope once; then its call ends, and what is shorter goes on", async () => {
    const { full, call } = await beginFull([makes, small], 20_000);
    await expect(call("r", "makes")).rejects.toMatchObject({
      code: "scope_lost",
      message: expect.stringMatching(/full/),
    });
    expect(await call("r", "makes")).toMatchObject(failure);
    expect(await call("r2", "small")).toMatchObject({ payload: "small" });
    expect(full.refused).toBe(1);
  });

  it("as a step's input costs the scope once; then it is the step's error", async () => {
    const asks = defineTool({
      name: "asks",
      durable: true,
      execute: (_, ctx) =>
        ctx.run("large", () => "made", { input: "y".repeat(30_000) }).catch(({ code }: EffectError) => code),
    });
    const { full, call } = await beginFull([asks], 20_000);
    await expect(call("r", "asks")).rejects.toMatchObject({ code: "scope_lost" });
    expect(await call("r", "asks")).toMatchObject({ payload: "value_not_stored" });
    expect(full.refused).toBe(1);
  });

  it("as the replies of a batch costs the scope once; then the call ends whose body made it", async () => {
    const part = defineTool({ name: "part", durable: true, execute: () => "y".repeat(9000) });
    const parts = ["1", "2", "3"].map((id) => ({ label: id, tool: "part", args: {} }));
    const runs: string[] = [];
    const calls = defineTool({
      name: "calls",
      durable: true,
      execute: async (_, ctx) => (runs.push("run"), (await ctx.callAll(parts)).length),
    });
    const { full, call } = await beginFull([part, calls, small], 20_000);
    await expect(call("r", "calls")).rejects.toMatchObject({ code: "scope_lost" });
    expect(await call("r", "calls")).toMatchObject(failure);
    expect(await call("r2", "small")).toMatchObject({ payload: "small" });
    expect([runs.length, full.refused]).toEqual([2, 1]);
  });

  it("is tried again after a while: there may be room by then", async () => {
    const { world, runtime, full, call } = await beginFull([makes], 20_000);
    await expect(call("r", "makes")).rejects.toMatchObject({ code: "scope_lost" });
    world.platform.advance(61_000);
    await expect(call("r", "makes")).rejects.toMatchObject({ code: "scope_lost" });
    expect([full.refused, (await runtime.session("s")).state.scope.epoch]).toEqual([2, 3]);
  });
});

/** Large values: references in the log and in the state, values wherever somebody is meant to see them. */
import type { AttachmentRef, Json, JsonObject, ToolValue } from "@pawl/tool-value";
import { currentProtocol } from "@pawl/sansio-core";
import { attachment, hashText, stringify } from "@pawl/tool-value";
import { blobChecks } from "@pawl/testkit";
import { describe, expect, it } from "vitest";
import { type Frame, type Journal, type Session, defineTool } from "../src/index.ts";
import { type BlobStore, type LogEntry, memoryBlobs, namesIn, sweepBlobs } from "../src/driver.ts";
import { type Process, World } from "./world.ts";

const large = (of: string): string => of.repeat(70_000);
const scope = "session:s";

/** Hands back what it got, through a step. */
const echo = defineTool({
  name: "echo",
  durable: true,
  execute: async (args, ctx) => {
    const stepped = await ((input) =>
      ctx.run(
        "step",
        () => ({
          stepped: (input as JsonObject)["args"] as Json,
        }),
        { input },
      ))({ args });
    return (stepped as JsonObject)["stepped"];
  },
});

const linesOf = async (journal: Journal): Promise<readonly string[]> =>
  (await journal.read(scope, 1)).map(({ line }) => line);

const outputs = async (session: Session, request: string, args: Json): Promise<readonly ToolValue[]> => {
  const replies = await session.request(request, [{ label: "c", tool: "echo", args }]);
  return replies.map(({ output }) => (output.outcome.status === "success" ? output.outcome.payload : null));
};

const start = async (world: World, how: Parameters<World["start"]>[1] = {}): Promise<[Process, Session]> => {
  const process = world.start([echo], how);
  return [process, await process.runtime.session("s")];
};

const take = async (from: AsyncIterator<Frame>, count: number): Promise<readonly Frame[]> => {
  const frames: Frame[] = [];
  while (frames.length < count) frames.push((await from.next()).value as Frame);
  return frames;
};

describe("blobs in memory", () => {
  for (const { name, run } of blobChecks) {
    it(name, async () => {
      let now = 0;
      const store = memoryBlobs({ now: () => now });
      await run({ open: async () => store, pass: (ms) => (now += ms) });
    });
  }
});

describe("a large value", () => {
  it("is a reference in the log, and itself for the body and in the reply", async () => {
    const world = new World();
    const [, session] = await start(world);
    const args = { text: large("x"), n: 1 };
    expect(await outputs(session, "r", args)).toEqual([args]);
    const lines = await linesOf(world.journal);
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThan(3000);
    const names = new Set(lines.flatMap(namesIn));
    expect(names).toContain(hashText(stringify(args)));
    for (const name of names) expect(await world.journal.blobs?.read(scope, name)).toBeDefined();
    expect(JSON.stringify(session.state.requests.rows())).not.toContain(large("x"));
  });

  it("stays in the log below the bound, which a host may set", async () => {
    const world = new World();
    const [, session] = await start(world);
    await outputs(session, "r", { text: "x".repeat(60_000) });
    expect((await linesOf(world.journal)).flatMap(namesIn)).toEqual([]);
    const [, other] = await start(new World(), { blobChars: 10 });
    expect(await outputs(other, "r", { text: "twelve chars" })).toEqual([{ text: "twelve chars" }]);
  });

  it("is the same for a body that runs again after its process died, at any append", async () => {
    const args = { text: large("y") };
    for (let append = 1; append < 12; append++) {
      const world = new World();
      const dying = world.start([echo], { death: { append, when: "after" } });
      const lost = dying.runtime.session("s").then((session) => outputs(session, "r", args));
      lost.catch(() => undefined);
      await world.quiet();
      const [, session] = await start(world);
      expect(await outputs(session, "r", args)).toEqual([args]);
    }
  });

  it("is given again from the log to who asks for an acknowledged request", async () => {
    const world = new World();
    const [, session] = await start(world);
    const args = { text: large("z") };
    await outputs(session, "r", args);
    await world.quiet();
    expect(session.state.requests.size).toBe(0);
    expect(await outputs(session, "r", args)).toEqual([args]);
  });

  it("is itself for observers, live and from the log, in the order of the log", async () => {
    const world = new World();
    const [, session] = await start(world);
    const live = session.observe();
    const args = { text: large("o") };
    await outputs(session, "r", args);
    await outputs(session, "small", { n: 1 });
    const seen = await take(live, 4);
    expect(JSON.stringify(seen).split(large("o")).length).toBeGreaterThan(3);
    const cursors = seen.map((frame) => (frame.type === "observed" ? frame.cursor.seq * 100 + frame.cursor.index : 0));
    expect(cursors).toEqual(cursors.toSorted((a, b) => a - b));
    const past = session.observe({ from: { scope, seq: 0, index: 0 } });
    expect(await take(past, 4)).toEqual(seen);
  });

  it("is itself for who resolves a key too late", async () => {
    const world = new World();
    const waiting = defineTool({
      name: "echo",
      durable: true,
      execute: async (_, ctx) => {
        await ctx.waitFor((await ctx.token("k")) as never);
        return null;
      },
    });
    const process = world.start([waiting]);
    const session = await process.runtime.session("s");
    void session.request("r", [{ label: "c", tool: "echo", args: null }]).catch(() => undefined);
    await world.quiet();
    const [key] = session.state.waits.rows().map((row) => row.key);
    const payload = { text: large("k") };
    expect(await session.resolveById(key as string, { status: "ok", payload }, "ann")).toEqual({ status: "accepted" });
    expect(await session.resolveById(key as string, { status: "ok", payload: 1 }, "bob")).toEqual({
      status: "already_resolved",
      terminal: { status: "ok", payload },
    });
  });

  it("is durable before the event that names it", async () => {
    const world = new World();
    const { promise: opened, resolve: open } = Promise.withResolvers<undefined>();
    const blobs = world.journal.blobs as BlobStore;
    const slow: BlobStore = { ...blobs, put: (...of) => opened.then(() => blobs.put(...of)) };
    const [, session] = await start(world, { faulty: { blobs: slow } });
    const reply = outputs(session, "r", { text: large("s") });
    await world.quiet();
    expect((await linesOf(world.journal)).join("")).not.toContain("request.submitted");
    open(undefined);
    expect(await reply).toEqual([{ text: large("s") }]);
  });

  it("that is gone from its store costs the scope, which says so", async () => {
    const world = new World();
    const blobs = world.journal.blobs as BlobStore;
    const empty: BlobStore = { ...blobs, read: async () => undefined };
    const [, session] = await start(world, { faulty: { blobs: empty } });
    await expect(outputs(session, "r", { text: large("s") })).rejects.toThrow("is not in its store");
  });
});

/** Returns what looks like the reference to a blob. */
const lookalike = (name: string): Json => ({
  $lash_tool_value: "attachment",
  ref: {
    id: `blob:${name}`,
    media_type: { kind: "file", type: "application/vnd.pawl.value+json" },
    byte_len: 70_011,
  },
});

describe("a value that looks like a reference", () => {
  it("is what it is, and shows nobody the blob that it names", async () => {
    const world = new World();
    const [, session] = await start(world);
    await outputs(session, "secret", { text: large("t") });
    const [name] = (await linesOf(world.journal)).flatMap(namesIn);
    for (const [i, args] of [lookalike(name as string), { deep: [lookalike(name as string)] }].entries()) {
      const [reply] = await session.request(`r${i}`, [{ label: "c", tool: "echo", args }]);
      expect(reply?.args).toEqual(args);
      expect(JSON.stringify(reply)).not.toContain(large("t"));
    }
  });

  it("is what it is to a step, to a batch and to the host, live and in a later run", async () => {
    const world = new World();
    const [, session] = await start(world);
    await outputs(session, "secret", { text: large("t") });
    const [name] = (await linesOf(world.journal)).flatMap(namesIn);
    const [json, seen] = [[lookalike(name as string)] as Json, [] as unknown[]];
    const tool = defineTool({
      name: "t",
      durable: true,
      execute: async (_, ctx) => {
        seen.push(await ((input) => ctx.run("a", () => (seen.push(input), input), { input }))(json));
        seen.push((await ctx.callAll([{ label: "x", tool: "echo", args: json }]))[0]?.output.outcome.payload);
        seen.push(await ctx.host("look", json));
        await ctx.waitFor("go on");
      },
    });
    const run = async (): Promise<Process> => {
      const process = world.start([tool, echo], { host: { request: async (_, input) => input } });
      const again = await process.runtime.session("u");
      void again.request("r", [{ label: "c", tool: "t", args: {} }]).catch(() => undefined);
      await world.quiet(200);
      return process;
    };
    (await run()).kill();
    expect(seen).toEqual([json, json, json, json]);
    await run();
    expect(seen.slice(4)).toEqual([json, json, json]);
  });

  it("is what it is as an attachment that a tool returns", async () => {
    const world = new World();
    const ref = (lookalike("a".repeat(64)) as unknown as { readonly ref: AttachmentRef }).ref;
    const tool = defineTool({ name: "echo", execute: async () => attachment(ref) });
    const process = world.start([tool]);
    const [output] = await outputs(await process.runtime.session("s"), "r", null);
    expect(output).toEqual(attachment(ref));
  });
});

describe("sweeping blobs", () => {
  it("is done by a runtime from time to time, and what is on its way has time to arrive", async () => {
    const world = new World();
    const entries: LogEntry[] = [];
    await start(world, { sweep: { everyMs: 10_000_000 }, log: (entry) => entries.push(entry) });
    const { blobs } = world.journal;
    const [stray, late] = ["b".repeat(64), "c".repeat(64)];
    await blobs?.put(scope, stray, new Uint8Array(3));
    await blobs?.put(scope, late, new Uint8Array(3));
    world.platform.advance(10_000_000);
    await world.quiet();
    expect(await blobs?.read(scope, stray)).toBeDefined();
    await blobs?.put(scope, late, new Uint8Array(3));
    world.platform.advance(60_000);
    await world.quiet();
    expect(await blobs?.read(scope, stray)).toBeUndefined();
    expect(await blobs?.read(scope, late)).toBeDefined();
    const swept = entries.filter(({ name }) => name === "blobs.swept");
    expect(swept.map(({ fields }) => fields)).toEqual([{ looked: 2, removed: 1 }]);
  });

  it("takes those that no log names, and none that one does", async () => {
    const world = new World();
    const [, session] = await start(world);
    await outputs(session, "r", { text: large("a") });
    const stray = "b".repeat(64);
    await world.journal.blobs?.put(scope, stray, new Uint8Array(3));
    expect(await sweepBlobs(world.journal)).toEqual({ looked: 0, removed: [] });
    world.platform.advance(4_000_000);
    expect((await sweepBlobs(world.journal)).removed).toEqual([stray]);
    expect(await outputs(session, "r", { text: large("a") })).toEqual([{ text: large("a") }]);
  });

  it("takes what retention has cut from a log, and keeps what its snapshot, and what follows, names", async () => {
    const world = new World();
    const [process, session] = await start(world);
    await outputs(session, "done", { text: large("d") });
    void session.request("kept", [{ label: "c", tool: "nobody", args: { text: large("k") } }], { keep: true });
    await world.quiet();
    const { journal, platform } = world;
    await process.runtime.close();
    const claim = await journal.claim(scope, "cutter", currentProtocol);
    expect(claim).toMatchObject({ type: "claimed" });
    const { snapshot } = await import("@pawl/sansio-core");
    const { epoch } = claim as { readonly epoch: number };
    const { state } = session;
    await journal.snapshot(scope, epoch, state.seq, JSON.stringify(snapshot(state)));
    expect(await journal.retain(scope, epoch, [])).toMatchObject({ type: "ok" });
    platform.advance(4_000_000);
    const { removed } = await sweepBlobs(journal);
    expect(removed).toContain(hashText(stringify({ text: large("d") })));
    expect(removed).not.toContain(hashText(stringify({ text: large("k") })));
    const [, later] = await start(world);
    const [reply] = await later.replies("kept");
    expect(reply?.args).toEqual({ text: large("k") });
  });

  it("holds up nothing that is closed meanwhile", async () => {
    const world = new World();
    const [process] = await start(world, { sweep: { everyMs: 10_000 } });
    const reading = Promise.withResolvers<readonly string[]>();
    const { blobs } = world.journal;
    if (blobs !== undefined) Object.assign(blobs, { old: () => reading.promise });
    world.platform.advance(10_000);
    await world.quiet();
    await process.runtime.close();
    reading.reject(new Error("the journal was closed"));
    await world.quiet();
    expect(world.platform.timers).toBe(0);
  });

  it("passes over what retention has cut in one look, however much it was", async () => {
    const world = new World();
    const [, session] = await start(world);
    await outputs(session, "r", { text: large("a") });
    world.platform.advance(4_000_000);
    const base = 5_000_000;
    const kept = { seq: 4, line: (await linesOf(world.journal)).join("") };
    const after = [base + 1, base + 2].map((seq) => ({ seq, line: "" }));
    let reads = 0;
    const { removed } = await sweepBlobs({
      ...world.journal,
      segment: async () => ({ base, hash: "", snapshot: "" }),
      read: async (_, from, to = Infinity) => {
        reads += 1;
        return [kept, ...after].filter(({ seq }) => seq >= from && seq <= to);
      },
    });
    expect(reads).toBeLessThan(5);
    expect(removed).toEqual([]);
  });

  it("reads on where retention has come further than it meanwhile", async () => {
    const world = new World();
    const [, session] = await start(world);
    await outputs(session, "r", { text: large("a") });
    world.platform.advance(4_000_000);
    const lines = Array.from({ length: 5000 }, (_, i) => ({ seq: i + 1, line: "" }));
    const named = { seq: 4999, line: (await linesOf(world.journal)).join("") };
    lines[4998] = named;
    let base = 0;
    const { removed } = await sweepBlobs({
      ...world.journal,
      segment: async () => (base === 0 ? undefined : { base, hash: "", snapshot: "" }),
      read: async (_, from, to = Infinity) => {
        const found = lines.filter(({ seq }) => seq > base && seq >= from && seq <= to);
        base = 4500;
        return found;
      },
    });
    expect(removed).toEqual([]);
  });
});

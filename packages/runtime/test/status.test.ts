import { describe, expect, it } from "vitest";
import { ToolError, defineTool } from "../src/index.ts";
import { type Start, World } from "./world.ts";

const tokens: string[] = [];
const echo = defineTool({ name: "echo", execute: (args) => args });
const refuses = defineTool({
  name: "refuses",
  execute: () => {
    throw new ToolError("not today");
  },
});
const pay = defineTool({ name: "pay", needsApproval: true, execute: (args) => args });
const waits = defineTool({
  name: "waits",
  durable: true,
  execute: (_, ctx) => {
    tokens[0] = ctx.token("paid");
    return ctx.waitFor("paid");
  },
});
const naps = defineTool({ name: "naps", durable: true, execute: (_, ctx) => ctx.sleep(60_000) });
const remote = defineTool({ name: "remote", clientSide: true, execute: () => null });
const works = defineTool({ name: "works", execute: () => new Promise(() => undefined) });
const bound = defineTool({ name: "bound", execute: () => new Promise(() => undefined) });
const asks = defineTool({
  name: "asks",
  durable: true,
  execute: async (_, ctx) => (await ctx.callAll([{ label: "c", tool: "pay", args: { amount: 1 } }])).length,
});
const tools = [echo, refuses, pay, waits, naps, remote, works, bound, asks];

const opened = async () => {
  const world = new World();
  const process = world.start(tools);
  const session = await process.runtime.session("s");
  const begin = async (tool: string, request = tool) => {
    session.request(request, [{ tool, args: {} }]).catch(() => undefined);
    await world.quiet();
    return session.status(request);
  };
  return { world, process, session, begin };
};

describe("the status of a request", () => {
  it("says what it waits for, since when, and until when", async () => {
    const { world, begin } = await opened();
    const at = world.platform.now();
    expect(await begin("pay")).toMatchObject({ state: "waiting", waitsFor: "person", since: at, createdAt: at });
    expect(await begin("waits")).toMatchObject({ state: "waiting", waitsFor: "outside" });
    expect(await begin("naps")).toMatchObject({ state: "waiting", waitsFor: "time", until: at + 60_000 });
    expect(await begin("remote")).toMatchObject({ state: "waiting", waitsFor: "executor" });
    const working = await begin("works");
    expect(working).toMatchObject({ request: "works", state: "working" });
    expect(working).not.toHaveProperty("waitsFor");
  });

  it("is that of a call below, where the body waits for it", async () => {
    const { begin } = await opened();
    expect(await begin("asks")).toMatchObject({ state: "waiting", waitsFor: "person" });
  });

  it("is unknown where nobody knows what a lost call has done", async () => {
    const { world, process } = await opened();
    const session = await process.runtime.session("s");
    session.request("bound", [{ tool: "bound", args: {} }]).catch(() => undefined);
    await world.quiet();
    process.kill();
    const host = { resolveOutcome: async () => ({ type: "person" }) as const };
    const again = await world.start(tools, { host }).runtime.session("s");
    await world.quiet();
    expect(await again.status("bound")).toMatchObject({ state: "unknown" });
  });

  it("tells how it has ended, also when it was acknowledged and the process is another", async () => {
    const { world, process, session } = await opened();
    const at = world.platform.now();
    await session.request("fine", [{ tool: "echo", args: {} }]);
    world.platform.advance(5000);
    await session.request("bad", [{ tool: "refuses", args: {} }]);
    await session.request("kept", [{ tool: "echo", args: {} }], { keep: true });
    const cancelled = session.request("gone", [{ tool: "pay", args: {} }]);
    await session.cancel({ request: "gone" });
    await cancelled;
    process.kill();
    const again = await world.start(tools).runtime.session("s");
    expect(await again.status("fine")).toMatchObject({ state: "done", createdAt: at, updatedAt: at, since: at });
    expect(await again.status("bad")).toMatchObject({ state: "failed", createdAt: at + 5000 });
    expect(await again.status("kept")).toMatchObject({ state: "done" });
    expect(await again.status("gone")).toMatchObject({ state: "cancelled" });
    await expect(again.status("none")).rejects.toMatchObject({ code: "request_unknown" });
  });

  it("was updated by its newest event, whatever else the session does", async () => {
    const { world, session, begin } = await opened();
    const at = world.platform.now();
    await begin("pay");
    world.platform.advance(7000);
    await session.request("other", [{ tool: "echo", args: {} }]);
    expect(await session.status("pay")).toMatchObject({ createdAt: at, updatedAt: at });
    const [approval] = await session.approvals();
    await approval?.approve({ by: "ann" });
    await world.quiet();
    expect(await session.status("pay")).toMatchObject({ state: "done", updatedAt: at + 7000 });
  });
});

describe("the list of requests", () => {
  it("has all of them, oldest first, page by page", async () => {
    const { session, begin } = await opened();
    for (const request of ["a", "b"]) await session.request(request, [{ tool: "echo", args: {} }]);
    await begin("pay", "c");
    await session.request("d", [{ tool: "refuses", args: {} }]);
    const listed = await session.requests();
    expect(listed.map(({ request, state }) => `${request} ${state}`)).toEqual([
      "a done",
      "b done",
      "c waiting",
      "d failed",
    ]);
    const [first] = await session.requests({ limit: 1 });
    expect(first).toEqual(listed[0]);
    expect(await session.requests({ after: first?.seq ?? 0, limit: 2 })).toEqual(listed.slice(1, 3));
  });
});

/** A session with many requests in its log, and the number of lines that are read of it from now on. */
const long = async (protocol?: number) => {
  const world = new World(protocol);
  const read = { lines: 0 };
  const counted: Start["faulty"] = {
    read: async (...of) => {
      const lines = await world.journal.read(...of);
      read.lines += lines.length;
      return lines;
    },
  };
  const session = await world.start(tools, { faulty: counted }).runtime.session("s");
  session.request("waits", [{ tool: "pay", args: {} }]).catch(() => undefined);
  for (let i = 1; i <= 300; i += 1)
    await session.request(`r${i}`, [{ tool: i % 2 === 0 ? "refuses" : "echo", args: {} }]);
  const costOf = async <A>(ask: () => Promise<A>): Promise<readonly [A, number]> => {
    read.lines = 0;
    const answer = await ask();
    return [answer, read.lines];
  };
  return { session, costOf };
};

describe("what it costs to ask", () => {
  it("is a few pages of the log for an ended request, however long the log is", async () => {
    const { session, costOf } = await long();
    const [status, lines] = await costOf(() => session.status("r4"));
    expect(status).toMatchObject({ request: "r4", state: "failed" });
    expect(session.state.seq).toBeGreaterThan(900);
    expect(lines).toBeLessThan(150);
  });

  it("is a few pages of the log for a page of the list", async () => {
    const { session, costOf } = await long();
    const { seq } = await session.status("r297");
    const [listed, lines] = await costOf(() => session.requests({ after: seq, limit: 3 }));
    expect(listed.map(({ request, state }) => `${request} ${state}`)).toEqual([
      "r298 failed",
      "r299 done",
      "r300 failed",
    ]);
    expect(lines).toBeLessThan(150);
  });

  it("is what is new, for a request that waits and was asked for before", async () => {
    const { session, costOf } = await long();
    const [first] = await costOf(() => session.status("waits"));
    const [again, lines] = await costOf(() => session.status("waits"));
    expect(again).toEqual(first);
    expect(lines).toBeLessThan(100);
  });

  it("is the log where an older protocol wrote it, and the answer is the same", async () => {
    const { session, costOf } = await long(1);
    const [listed] = await costOf(() => session.requests({ limit: 4 }));
    expect(listed.map(({ request, state }) => `${request} ${state}`)).toEqual([
      "waits waiting",
      "r1 done",
      "r2 failed",
      "r3 done",
    ]);
    expect(await session.status("r2")).toMatchObject({ state: "failed", seq: listed[2]?.seq });
  });
});

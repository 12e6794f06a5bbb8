import { defineTool, logText, memoryJournal } from "@pawl/runtime";
import type { LogEntry } from "@pawl/runtime/driver";
import { describe, expect, it, vi } from "vitest";
import { type ExecutorTool, type HostRefused, ToolRefused } from "@pawl/wire";
import { clientOf, greeted, hostOf, runtimeOf } from "./rig.ts";
import { payloads, use } from "./tools.ts";
import { until } from "../until.ts";

const notHere = (): never => {
  throw new Error("a client_side tool runs elsewhere");
};
const remote = defineTool({ name: "remote", clientSide: true, durable: true, execute: notHere });
const bound = defineTool({ name: "bound", clientSide: true, execute: notHere });
const ordered = defineTool({
  name: "ordered",
  clientSide: true,
  recovery: "externally_owned",
  execute: notHere,
});
const scope = "session:s";

/** A tool whose runs end when they are told to. */
const held = () => {
  const runs: { readonly end: (value: unknown) => void; readonly signal: AbortSignal }[] = [];
  const tool = (_: unknown, { signal }: { readonly signal: AbortSignal }): Promise<unknown> =>
    new Promise((end) => runs.push({ end, signal }));
  return { runs, tool };
};

describe("an executor", () => {
  it("runs offered calls, shows tool errors, and hides internal ones", async () => {
    const host = await hostOf([remote, bound]);
    const seen: unknown[] = [];
    clientOf(host).execute({
      tools: {
        "tool:remote": (args) => ({ got: args }),
        "tool:bound": (args) => {
          if ((args as { readonly told?: boolean }).told === true) throw new ToolRefused("no such customer");
          throw new Error("secret");
        },
      },
      internalError: (_, thrown) => seen.push(thrown),
    });
    const session = clientOf(host).session("s");
    expect(payloads(await session.request("r1", use("remote", { a: 1 })))).toEqual([{ got: { a: 1 } }]);
    expect(payloads(await session.request("r2", use("bound")))).toMatchObject([{ code: "tool_internal_error" }]);
    const told = payloads(await session.request("r3", use("bound", { told: true })));
    expect(told).toMatchObject([{ code: "tool_error", message: "no such customer" }]);
    expect(seen).toMatchObject([{ message: "secret" }]);
    const { state } = await host.runtime.session("s");
    expect(state.calls.rows()).toEqual([]);
  });

  it("that is missing is waited for", async () => {
    const host = await hostOf([remote]);
    const replies = clientOf(host).session("s").request("r", use("remote"));
    const session = await host.runtime.session("s");
    await until(() => session.state.calls.at("r:c")?.phase === "no_executor");
    clientOf(host).execute({ tools: { "tool:remote": () => "late" } });
    expect(payloads(await replies)).toEqual(["late"]);
  });

  it("survives reconnections: a run starts once, and its result is not lost", async () => {
    const host = await hostOf([bound]);
    const { runs, tool } = held();
    const executing = clientOf(host);
    executing.execute({ tools: { "tool:bound": tool } });
    const replies = clientOf(host).session("s").request("r", use("bound"));
    await until(() => runs.length === 1);
    executing.reconnect();
    await until(() => executing.isConnected);
    executing.reconnect();
    runs[0]?.end("done");
    expect(payloads(await replies)).toEqual(["done"]);
    expect(runs).toHaveLength(1);
  });

  it("continues after its host was killed and another one opened its scope, and starts nothing twice", async () => {
    const journal = memoryJournal();
    const first = await hostOf([], { runtime: runtimeOf([bound], journal) });
    const { runs, tool } = held();
    const client = clientOf(first);
    client.execute({ tools: { "tool:bound": tool } });
    const replies = client.session("s").request("r", use("bound"));
    await until(() => runs.length === 1);
    await first.close();
    await hostOf([], { runtime: runtimeOf([bound], journal, "i2"), port: first.port });
    await until(() => client.isConnected);
    runs[0]?.end("survived");
    expect(payloads(await replies)).toEqual(["survived"]);
    expect(runs).toHaveLength(1);
  });

  it("whose lease expires is lost: an owner-bound call is unknown, a rerunnable one runs elsewhere", async () => {
    const runtime = runtimeOf([bound, remote], memoryJournal(), "i1", 50);
    const host = await hostOf([], { runtime });
    const { runs, tool } = held();
    const gone = clientOf(host);
    gone.execute({ tools: { "tool:bound": tool, "tool:remote": tool } });
    const session = clientOf(host).session("s");
    const replies = [session.request("r1", use("bound")), session.request("r2", use("remote"))];
    await until(() => runs.length === 2);
    gone.close();
    clientOf(host).execute({ tools: { "tool:remote": () => "elsewhere" } });
    const [unknown, again] = await Promise.all(replies);
    expect(payloads(unknown ?? [])).toMatchObject([{ code: "tool_outcome_unknown" }]);
    expect(payloads(again ?? [])).toEqual(["elsewhere"]);
  });

  it("that leaves gives back at once what it does not end, and nothing counts as crashed", async () => {
    const journal = memoryJournal();
    const host = await hostOf([], { runtime: runtimeOf([remote, bound], journal) });
    const { runs, tool } = held();
    const leaving = clientOf(host).execute({ tools: { "tool:remote": tool, "tool:bound": tool } });
    const session = clientOf(host).session("s");
    const [remoteReply, boundReply] = [session.request("r1", use("remote")), session.request("r2", use("bound"))];
    await until(() => runs.length === 2);
    await leaving.leave({ withinMs: 10 });
    expect(runs.map(({ signal }) => signal.aborted)).toEqual([true, true]);
    for (const { end } of runs) end("too late");
    clientOf(host).execute({ tools: { "tool:remote": () => "elsewhere", "tool:bound": () => "elsewhere" } });
    expect(payloads(await remoteReply)).toEqual(["elsewhere"]);
    expect(payloads(await boundReply)).toMatchObject([{ code: "tool_outcome_unknown" }]);
    const log = ((await logText(journal, scope)) ?? []).join("");
    expect(log.match(/"type":"owner.lost".*?"went":"\w+"/g)).toHaveLength(1);
    expect(log).toContain('"went":"released"');
    expect(log).not.toContain("call.settled_late");
  });

  it("that leaves ends what it has begun, over reconnections, and is offered nothing more", async () => {
    const host = await hostOf([bound]);
    const { runs, tool } = held();
    const client = clientOf(host);
    const executor = client.execute({ tools: { "tool:bound": tool } });
    const session = clientOf(host).session("s");
    const begun = session.request("r1", use("bound"));
    await until(() => runs.length === 1);
    const left = executor.leave();
    client.reconnect();
    await until(() => client.isConnected);
    const next = session.request("r2", use("bound"));
    const phaseOf = async (call: string) => (await host.runtime.session("s")).state.calls.at(call)?.phase;
    await until(async () => (await phaseOf("r2:c")) === "no_executor");
    expect(await phaseOf("r1:c")).toBe("running");
    runs[0]?.end("done");
    await left;
    expect(payloads(await begun)).toEqual(["done"]);
    expect(runs).toHaveLength(1);
    clientOf(host).execute({ tools: { "tool:bound": () => "by another" } });
    expect(payloads(await next)).toEqual(["by another"]);
  });

  it("whose lease expires leaves an externally owned call under its completion key", async () => {
    const runtime = runtimeOf([ordered, bound], memoryJournal(), "i1", 50);
    const host = await hostOf([], { runtime });
    const given: (string | undefined)[] = [];
    const executing = clientOf(host);
    const keep: ExecutorTool = (_, { completionKey }) => {
      given.push(completionKey);
      return new Promise(() => undefined);
    };
    executing.execute({ tools: { "tool:ordered": keep, "tool:bound": keep } });
    const session = clientOf(host).session("s");
    const replies = session.request("r", use("ordered"));
    const unknown = session.request("r2", use("bound"));
    await until(() => given.length === 2);
    executing.close();
    expect(payloads(await unknown)).toMatchObject([{ code: "tool_outcome_unknown" }]);
    const { state } = await host.runtime.session("s");
    expect(state.calls.at("r:c")?.phase).toBe("pending");
    const [key, none] = given.toSorted((a) => (a === undefined ? 1 : -1));
    expect(none).toBeUndefined();
    expect(await session.resolve(key as string, { status: "ok", payload: "delivered" })).toEqual({
      status: "accepted",
    });
    expect(payloads(await replies)).toEqual(["delivered"]);
  });

  it("gets the same key from the next host; an earlier answer from outside counts", async () => {
    const journal = memoryJournal();
    const first = await hostOf([], { runtime: runtimeOf([ordered], journal) });
    const raw = await greeted(first);
    await raw.ask({ type: "execute", id: 1, executor: "e", tools: ["tool:ordered"] });
    void clientOf(first)
      .session("s")
      .request("r", use("ordered"))
      .catch(() => undefined);
    const offer = await raw.until(({ type }) => type === "offer");
    const key = String(offer["completion_key"]);
    expect(key).toMatch(/^v3\./);
    await first.close();
    const next = await hostOf([], { runtime: runtimeOf([ordered], journal, "i2", 50) });
    const back = await greeted(next);
    await back.ask({ type: "execute", id: 1, executor: "e", tools: ["tool:ordered"] });
    const session = clientOf(next).session("s");
    const replies = session.request("r", use("ordered"));
    expect(await back.until(({ type }) => type === "offer")).toMatchObject({ completion_key: key });
    await session.resolve(key, { status: "ok", payload: "early" });
    back.socket.close();
    expect(payloads(await replies)).toEqual(["early"]);
  });

  it("is told of a cancel, and may still finish within the grace time", async () => {
    const host = await hostOf([remote]);
    const { runs, tool } = held();
    clientOf(host).execute({ tools: { "tool:remote": tool } });
    const session = clientOf(host).session("s");
    const replies = session.request("r", use("remote"));
    await until(() => runs.length === 1);
    await session.cancel({ request: "r" });
    await until(() => runs[0]?.signal.aborted === true);
    runs[0]?.end("finished all the same");
    expect((await replies)[0]?.output.outcome.status).toMatch(/success|cancelled/);
  });

  it("settles only runs that were offered to it", async () => {
    const host = await hostOf([remote]);
    const [mine, other] = [await greeted(host), await greeted(host, { by: "eve" })];
    await mine.ask({ type: "execute", id: 1, executor: "e", tools: ["tool:remote"] });
    const replies = clientOf(host).session("s").request("r", use("remote"));
    const offer = await mine.until(({ type }) => type === "offer");
    const output = { status: "success", payload: "mine" };
    const settle = {
      type: "settle",
      executor: "e",
      scope,
      call: "r:c",
      attempt: 1,
      run: 1,
      duration_ms: 1,
      output: { outcome: output },
    };
    expect(offer).toMatchObject({ executor: "e", scope, call: "r:c", attempt: 1, run: 1, tool_id: "tool:remote" });
    expect(await other.ask({ ...settle, id: 2 })).toMatchObject({ code: "not_offered" });
    await other.ask({ type: "execute", id: 3, executor: "e", tools: [] });
    expect(await other.ask({ ...settle, id: 4 })).toMatchObject({ code: "not_offered" });
    expect(await mine.ask({ ...settle, id: 5, run: 2 })).toMatchObject({ code: "not_offered" });
    expect(await mine.ask({ ...settle, id: 6 })).toMatchObject({ type: "settled", outcome: "accepted" });
    expect(await mine.ask({ ...settle, id: 7 })).toMatchObject({ code: "not_offered" });
    expect(payloads(await replies)).toEqual(["mine"]);
    const without = await greeted(host, { rights: ["call"] });
    const refused = { code: "permission_denied" };
    expect(await without.ask({ type: "execute", id: 1, executor: "e", tools: [] })).toMatchObject(refused);
    expect(await without.ask({ ...settle, id: 2 })).toMatchObject(refused);
  });

  it("is told why the host refuses it, on every connection, and the host logs it", async () => {
    const entries: LogEntry[] = [];
    const host = await hostOf([remote], { log: (entry) => void entries.push(entry) });
    const told: HostRefused[] = [];
    const client = clientOf(host, { rights: ["call"] });
    client.execute({
      tools: { "tool:remote": () => "never" },
      refused: (error) => void told.push(error),
    });
    await until(() => told.length === 1);
    client.reconnect();
    await until(() => told.length === 2);
    const refusal = { code: "permission_denied", message: "`ann` has no right to execute" };
    expect(told).toMatchObject([refusal, refusal]);
    const logged = {
      name: "executor.refused",
      level: "warn",
      fields: { by: "ann", ...refusal },
    };
    expect(entries.filter(({ name }) => name === "executor.refused")).toEqual([logged, logged]);
  });

  it("is refused if it names a tool by its name, but may name future tools", async () => {
    const own = defineTool({ name: "own", id: "remote", clientSide: true, durable: true, execute: notHere });
    const host = await hostOf([bound, own]);
    const { tool } = held();
    const refused = await new Promise((told) => clientOf(host).execute({ tools: { bound: tool }, refused: told }));
    const message = "expected ids of tools, found the name `bound`: its id is `tool:bound`";
    expect(refused).toMatchObject({ code: "invalid_argument", message });
    const raw = await greeted(host);
    const execute = { type: "execute", id: 1, executor: "e", tools: ["remote", "tool:bound", "tool:later", "later"] };
    expect(await raw.ask(execute)).toMatchObject({ type: "done" });
  });

  it("is told that its client is not admitted, and nothing when it is closed", async () => {
    const host = await hostOf([remote]);
    const tools = { "tool:remote": () => "never" };
    const client = clientOf(host, {}, { token: "bad" });
    const refused = await new Promise((told) => client.execute({ tools, refused: told }));
    expect(refused).toMatchObject({ code: "unauthorized" });
    expect(() => client.execute({ tools })).toThrow(expect.objectContaining({ code: "unauthorized" }));
    const told: unknown[] = [];
    const closing = clientOf(host);
    closing.execute({ tools, refused: (error) => void told.push(error) });
    await until(() => closing.isConnected);
    closing.close();
    expect(() => closing.execute({ tools })).toThrow(expect.objectContaining({ code: "client_closed" }));
    expect(told).toEqual([]);
  });

  it("reports to the console if nobody listens", async () => {
    const shown = vi.spyOn(console, "error").mockImplementation(() => undefined);
    try {
      clientOf(await hostOf([remote]), { rights: [] }).execute({ tools: {} });
      await until(() => shown.mock.calls.length > 0);
      expect(shown.mock.calls).toEqual([
        ["pawl: an executor was refused: permission_denied: `ann` has no right to execute"],
      ]);
    } finally {
      shown.mockRestore();
    }
  });

  it("gets no offers from scopes outside its token", async () => {
    const host = await hostOf([remote]);
    clientOf(host, { scopes: ["session:other"] }).execute({ tools: { "tool:remote": () => "leaked" } });
    const open = clientOf(host);
    void open
      .session("s")
      .request("r", use("remote"))
      .catch(() => undefined);
    const session = await host.runtime.session("s");
    await until(() => session.state.calls.at("r:c")?.phase === "no_executor");
  });
});

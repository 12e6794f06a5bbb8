/** Logs of a runtime and its host, and what they must never contain. */
import { type Journal, Runtime, ToolError, defineTool, memoryJournal } from "@pawl/runtime";
import { type LogEntry, entryOf, logLevels } from "@pawl/runtime/driver";
import { describe, expect, it, vi } from "vitest";
import { errorsToConsole } from "../../src/telemetry/log.ts";
import { logTo, nodePlatform } from "../../src/index.ts";
import { Raw, clientOf, everything, hostOf, roots } from "../host/rig.ts";
import { echo, use } from "../host/tools.ts";
import { until } from "../until.ts";

const failing = defineTool({
  name: "failing",
  execute: () => {
    throw new Error("outer", { cause: new Error("inner") });
  },
});
const told = defineTool({
  name: "told",
  execute: () => {
    throw new ToolError("for the model: private");
  },
});

const logged = async () => {
  const entries: LogEntry[] = [];
  const log = (entry: LogEntry): void => void entries.push(entry);
  const tools = [echo, failing, told];
  const runtime = new Runtime({ journal: memoryJournal(), platform: nodePlatform, tools, instance: "i1", roots, log });
  const host = await hostOf([], { runtime, log, limits: { maxConnections: 1 } });
  const names = (): readonly string[] => entries.map(({ name }) => name);
  return { entries, runtime, host, names };
};

describe("a log", () => {
  it("names events, with ids, codes and times, and no values of calls", async () => {
    const { entries, host, names } = await logged();
    const client = clientOf(host);
    const session = client.session("s");
    await session.request("r", use("echo", { text: "private" }));
    await session.request("t", use("told", { text: "private" }));
    await until(() => names().filter((name) => name === "call.completed").length === 2);
    expect(names().filter((name) => name !== "call.started")).toEqual([
      "client.welcomed",
      "scope.opened",
      "call.completed",
      "call.completed",
    ]);
    const [first, second] = entries.filter(({ name }) => name === "call.completed");
    expect(first).toMatchObject({
      level: "info",
      fields: { scope: "session:s", call: "r:c", tool: "echo", status: "success", duration_ms: expect.any(Number) },
    });
    expect(second?.fields).toMatchObject({ status: "failure", code: "tool_error" });
    expect(JSON.stringify(entries)).not.toContain("private");
    client.close();
    await until(() => names().includes("client.gone"));
  });

  it("has internal errors in full, with their causes", async () => {
    const { entries, host } = await logged();
    await clientOf(host).session("s").request("r", use("failing"));
    const error = entries.find(({ name }) => name === "tool.internal_error");
    expect(error).toMatchObject({ level: "error", fields: { tool: "failing", scope: "session:s" } });
    expect(error?.thrown).toMatchObject({ message: "outer", cause: { message: "inner" } });
  });

  it("tells where a body left its log", async () => {
    const [entries, journal]: [LogEntry[], Journal] = [[], memoryJournal()];
    const log = (entry: LogEntry): void => void entries.push(entry);
    const live = (step: string, instance: string): Runtime => {
      const waits = defineTool({
        name: "waits",
        durable: true,
        execute: async (_, ctx) => [await ctx.run(step, () => 1, { input: null }), await ctx.waitFor("go")],
      });
      return new Runtime({ journal, platform: nodePlatform, tools: [waits], instance, roots, log });
    };
    const first = live("one", "i1");
    const session = await first.session("s");
    session.request("r", use("waits")).catch(() => undefined); // Ends with its runtime.
    await until(() => session.state.waits.size === 1);
    await first.close();
    const second = live("other", "i2");
    await second.session("s");
    await until(() => entries.some(({ name }) => name === "call.diverged"));
    expect(entries.find(({ name }) => name === "call.diverged")).toEqual({
      name: "call.diverged",
      level: "error",
      fields: {
        scope: "session:s",
        call: "r:c",
        attempt: 1,
        run: 2,
        position: 1,
        expected: "the recorded `durable-step:one`",
        found: "step `durable-step:other`",
        version: expect.stringMatching(/^text:[0-9a-f]{12}@i2\//),
        message: "the code of tool `waits` changed: expected step `one`, found step `other`",
      },
    });
    await second.close();
  });

  it("prints errors by default, and nothing that was not thrown", () => {
    const shown = vi.spyOn(console, "error").mockReturnValue();
    const diverged = entryOf("call.diverged", { scope: "session:s", call: "r:c", position: 1 });
    errorsToConsole(diverged);
    errorsToConsole(entryOf("store.fault", { what: "w" }, "full"));
    errorsToConsole(entryOf("call.settled_late", { call: "r:c" }));
    const said = shown.mock.calls;
    shown.mockRestore();
    expect(said).toEqual([
      ["pawl: call.diverged { scope: 'session:s', call: 'r:c', position: 1 }"],
      ["pawl: store.fault { what: 'w' } full"],
    ]);
  });

  it("spells out what a terminal would obey or not show, wherever it stands", () => {
    const evil = "a\u001b[2J\u009b1m\u202e\u200b\u2028\u{e0041}b";
    const spelled = String.raw`a\u001b[2J\u009b1m\u202e\u200b\u2028\udb40\udc41b`;
    const printed: string[] = [];
    const spies = (["error", "warn"] as const).map((to) =>
      vi.spyOn(console, to).mockImplementation((...said) => void printed.push(said.join(" "))),
    );
    const thrown = Object.assign(new Error(evil), { tool: evil });
    const entries = [
      entryOf("store.fault", { what: evil }, thrown),
      entryOf("store.fault", { what: "w" }, evil),
      entryOf("call.crashed", { call: evil, tool: evil, message: evil }),
    ];
    for (const entry of entries) errorsToConsole(entry);
    for (const spy of spies) spy.mockRestore();
    const lines: string[] = [];
    for (const entry of entries) logTo({ write: (line) => void lines.push(line) }, "debug")(entry);
    expect(printed).toHaveLength(3);
    for (const letter of ["\u001b", "\u009b", "\u202e", "\u200b", "\u2028", "\u{e0041}"])
      expect([...printed, ...lines].join("")).not.toContain(letter);
    expect(printed.at(-1)).toContain(spelled);
    expect(lines.map((line) => (JSON.parse(line) as { readonly what?: string }).what)).toEqual([evil, "w", undefined]);
  });

  it("says what an object is that was thrown", async () => {
    const printed: string[] = [];
    const spy = vi.spyOn(console, "error").mockImplementation((...said) => void printed.push(said.join(" ")));
    const write = (line: string): void => void printed.push(line);
    const throwing = [{ code: 7, of: { a: [1] } }, null, undefined, Symbol("s"), 1n, { message: { deep: 1 } }, [{}]];
    const tools = throwing.map((thrown, n) =>
      defineTool({
        name: `throws${n}`,
        execute: () => {
          throw thrown;
        },
      }),
    );
    const log = (entry: LogEntry): void => {
      errorsToConsole(entry);
      logTo({ write }, "debug")(entry);
    };
    const runtime = new Runtime({
      journal: memoryJournal(),
      platform: nodePlatform,
      tools,
      instance: "i1",
      roots,
      log,
    });
    const session = await runtime.session("s");
    await session.request(
      "r",
      tools.map(({ name }) => ({ tool: name, args: {} })),
    );
    await runtime.close();
    spy.mockRestore();
    const all = printed.join("\n");
    expect(all).toContain('"code":7');
    expect(all).toMatch(/code: 7/);
    expect(all).not.toContain("[object Object]");
  });

  it("tells who was refused, and why", async () => {
    const { entries, host } = await logged();
    await expect(new Raw(host.url, { origin: "https://evil.example" }).open()).rejects.toThrow("403");
    const bad = await new Raw(host.url).open();
    bad.send({ type: "hello", protocol: 1, token: "bad" });
    await bad.closed;
    await until(() => host.connections === 0);
    const one = await new Raw(host.url).open();
    one.send({ type: "hello", protocol: 1, token: host.sign(everything) });
    await expect(new Raw(host.url).open()).rejects.toThrow("503");
    const why = entries.filter(({ name }) => name === "client.refused").map(({ fields }) => fields["why"]);
    expect(why).toEqual(["origin", "unauthorized", "too_many_connections"]);
  });

  it("is written as JSON lines, from its level up, with stacks of errors", () => {
    const lines: string[] = [];
    const log = logTo({ write: (line) => void lines.push(line) }, "warn");
    log({ name: "call.completed", level: logLevels["call.completed"], fields: { call: "r:c" } });
    log({ name: "store.fault", level: logLevels["store.fault"], fields: { what: "w" }, thrown: new Error("full") });
    log({ name: "host.internal_error", level: "error", fields: {}, thrown: "a text" });
    log({
      name: "tool.internal_error",
      level: "error",
      fields: { call: "r:c", tool: "t" },
      thrown: new Error("inner"),
    });
    log({ name: "tool.internal_error", level: "error", fields: { call: "the inbox" }, thrown: new Error("inner") });
    const said = lines.map((line) => JSON.parse(line) as { readonly [field: string]: unknown });
    expect(said).toMatchObject([
      { event: "store.fault", what: "w", err: { message: "full", stack: expect.stringContaining("full") } },
      { event: "host.internal_error", err: { message: "a text" } },
      { event: "tool.internal_error", msg: "Tool internal error (details hidden from LLM)", err: { message: "inner" } },
      { event: "tool.internal_error", msg: "tool.internal_error" },
    ]);
  });

  it("says what an object was that was thrown and is no error", () => {
    const lines: string[] = [];
    const cyclic: Record<string, unknown> = { status: 503 };
    cyclic["self"] = cyclic;
    for (const thrown of [{ status: 503, body: "busy" }, cyclic, Object.create(null), undefined, 7n])
      logTo(
        { write: (line) => void lines.push(line) },
        "warn",
      )({ name: "store.fault", level: "error", fields: {}, thrown });
    const said = lines.map(
      (line) => (JSON.parse(line) as { readonly err?: { readonly message: string } }).err?.message,
    );
    expect(said).toEqual(['{"status":503,"body":"busy"}', "an object with status, self", "{}", undefined, "7"]);
  });
});

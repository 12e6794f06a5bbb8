import { type Json, err, ok, pending } from "@pawl/tool-value";
import { describe, expect, expectTypeOf, it } from "vitest";
import {
  type ExternalWork,
  type HostPort,
  type OutcomeDecision,
  type Plugin,
  type PluginDirective,
  definePlugin,
  defineTool,
} from "../../src/index.ts";
import { World } from "../world.ts";

const echo = defineTool({ name: "echo", durable: true, execute: (args) => args });
const call = [{ label: "c", tool: "echo", args: { n: 1 } }];

const outcomeWith = async (host: HostPort) => {
  const session = await new World().start([echo], { host }).runtime.session("s");
  const [reply] = await session.request("r", call);
  return { payload: reply?.output.outcome.payload, args: reply?.args, parts: reply?.parts };
};
const before = (...directives: readonly PluginDirective[]): Plugin => ({ id: "p", beforeToolCall: () => directives });
const after = (...directives: readonly PluginDirective[]): Plugin => ({ id: "p", afterToolCall: () => directives });

const short = (output: Json): PluginDirective => ({ kind: "short_circuit_tool", output: ok(output) });
const fails = (): never => {
  throw new Error("no quota");
};
const check = (found: Json) => defineTool({ name: "check", durable: true, execute: () => found });

describe("a plugin that knows its turns", () => {
  const turn = { type: "object", properties: { user: { type: "string" } }, required: ["user"] } as const;
  const greeting = definePlugin({
    id: "greets",
    turn,
    beforeToolCall: async ({ turn: read, args }) => {
      const { user } = await read();
      expectTypeOf(user).toEqualTypeOf<string>();
      expectTypeOf(args).toEqualTypeOf<Json>();
      return [{ kind: "replace_tool_args", args: { user } }];
    },
    afterToolCall: async ({ turn: read }) => expectTypeOf((await read()).user).toEqualTypeOf<string>() && undefined,
  });

  it("reads them by its schema", async () => {
    expect(await outcomeWith({ plugins: [greeting], turn: async () => ({ user: "ann" }) })).toMatchObject({
      payload: { user: "ann" },
    });
  });

  it("fails the call where one does not fit, and is refused where its schema is none", async () => {
    const { payload } = await outcomeWith({ plugins: [greeting], turn: async () => ({ user: 7 }) });
    expect(JSON.stringify(payload)).toContain("plugin `greets`: the context of the turn does not fit: turn.user");
    expect(() => definePlugin({ id: "p", turn: { type: "strng" } as never })).toThrow(/plugin `p` is no schema/);
  });
});

describe("hooks", () => {
  it("replace arguments and end calls, all of them asked in order, the last short circuit counting", async () => {
    const replaced = before({ kind: "replace_tool_args", args: { n: 2 } });
    expect(await outcomeWith({ plugins: [replaced] })).toMatchObject({ payload: { n: 2 }, args: { n: 2 } });
    expect(await outcomeWith({ plugins: [before(short(1)), replaced, before(short(3))] })).toMatchObject({
      payload: 3,
      args: { n: 2 },
    });
    const aborted = before({ kind: "abort_turn", code: "x", message: "stop" });
    expect(await outcomeWith({ plugins: [aborted] })).toMatchObject({
      payload: { code: "tool_error", message: "stop" },
    });
    const unfinished = before({ kind: "short_circuit_tool", output: pending() });
    expect(await outcomeWith({ plugins: [unfinished] })).toMatchObject({
      payload: { code: "pending_tool_short_circuit" },
    });
  });

  it("end a call with their error, before it and after it", async () => {
    expect(await outcomeWith({ plugins: [{ id: "p", beforeToolCall: fails }] })).toMatchObject({
      payload: { class: "internal", code: "before_tool_call_failed", message: "no quota" },
    });
    expect(await outcomeWith({ plugins: [{ id: "p", afterToolCall: fails }] })).toMatchObject({
      payload: { class: "internal", code: "after_tool_call_failed", message: "no quota" },
    });
  });

  it("see the result, and may put another in its place; other arguments come too late", async () => {
    const seen: unknown[] = [];
    const looks: Plugin = {
      id: "p",
      afterToolCall: ({ session: sessionId, tool, output }) => {
        seen.push([sessionId, tool, output.outcome.payload]);
        return [{ kind: "short_circuit_tool", output: err("redacted") }];
      },
    };
    expect(await outcomeWith({ plugins: [looks] })).toMatchObject({ payload: { message: "redacted" } });
    expect(seen).toEqual([["s", "echo", { n: 1 }]]);
    const late = after({ kind: "replace_tool_args", args: {} });
    expect(await outcomeWith({ plugins: [late] })).toMatchObject({
      payload: {
        message: "after_tool_call only supports abort, short-circuit, session creation, events, and message injection",
      },
    });
  });

  it("ask their host under keys of their own, and what fails there ends the list", async () => {
    const asked: unknown[] = [];
    const request: HostPort["request"] = async (name, input, key) => {
      asked.push([name, input, key]);
      if (name === "create_session") throw new Error("too many");
      return null;
    };
    const trace: PluginDirective = { kind: "emit_trace", name: "t", payload: 1 };
    const create: PluginDirective = { kind: "create_session", request: { a: 1 } };
    const enqueue: PluginDirective = { kind: "enqueue_messages", messages: ["hi"] };
    expect(await outcomeWith({ request, plugins: [before(trace, create, enqueue)] })).toMatchObject({
      payload: { code: "tool_error", message: "too many" },
    });
    expect(asked).toEqual([
      ["emit_trace", { name: "plugin.p.t", payload: 1, context: null }, "session:s/r:c:hook:before:0"],
      ["create_session", { a: 1 }, "session:s/r:c:hook:before:1"],
    ]);
    expect(await outcomeWith({ request, plugins: [after(enqueue, create)] })).toMatchObject({
      payload: { code: "plugin_session_create_failed" },
    });
    expect(asked.at(-2)).toEqual(["enqueue_messages", ["hi"], "session:s/r:c:hook:after:0"]);
    expect(await outcomeWith({ request, plugins: [before(enqueue)] })).toMatchObject({
      payload: { message: "before_tool_call does not support message injection" },
    });
  });

  it("tell those who watch of events of their own", async () => {
    const emit: PluginDirective = { kind: "emit_runtime_events", events: [{ n: 1 }, { n: 2 }] };
    const t = defineTool({ name: "t", execute: () => 1 });
    const session = await new World().start([t], { host: { plugins: [before(emit)] } }).runtime.session("s");
    const watching = session.observe();
    await session.request("r", [{ label: "c", tool: "t", args: {} }]);
    const told: unknown[] = [];
    while (told.length < 2) {
      const { value } = await watching.next();
      if (value?.type === "ephemeral") told.push(value.observation);
    }
    expect(told).toEqual([1, 2].map((n) => ({ type: "plugin_event", plugin: "p", call: "r:c", event: { n } })));
  });

  it("are asked again after a crash at any append, and the call has one outcome", async () => {
    for (let append = 1; append < 9; append++) {
      const world = new World();
      const host = { plugins: [before({ kind: "replace_tool_args", args: { n: 2 } }), after()] };
      const first = world.start([echo], { host, death: { append, when: "after" } });
      void first.runtime
        .session("s")
        .then((session) => session.request("r", call))
        .catch(() => undefined);
      await world.quiet();
      first.kill();
      const session = await world.start([echo], { host }).runtime.session("s");
      expect((await session.request("r", call))[0]?.output.outcome.payload).toEqual({ n: 2 });
    }
  });
});

describe("a projector", () => {
  it("says what a model reads, and its error is what it reads", async () => {
    expect(await outcomeWith({ project: ({ tool }) => [{ type: "text", text: tool }] })).toMatchObject({
      parts: [{ type: "text", text: "echo" }],
    });
    expect((await outcomeWith({ project: fails })).parts).toEqual([{ type: "text", text: "no quota" }]);
  });
});

describe("a resolver", () => {
  it("decides what becomes of a call whose owner was lost", async () => {
    const looked: unknown[] = [];
    const cases: readonly (readonly [OutcomeDecision, Json, unknown])[] = [
      [{ type: "run_again" }, null, "ran"],
      [{ type: "give_up" }, null, { code: "tool_outcome_unknown" }],
      [{ type: "verify", tool: "check", args: {} }, "it did", "it did"],
      [{ type: "verify", tool: "check", args: {} }, null, "ran"],
    ];
    for (const [decision, found, expected] of cases) {
      const world = new World();
      let runs = 0;
      const never = new Promise<never>(() => undefined);
      const once = defineTool({ name: "echo", execute: () => (runs++ === 0 ? never : "ran") });
      const host: HostPort = {
        resolveOutcome: async (unknown) => {
          looked.push([unknown.tool, unknown.cause]);
          return decision;
        },
      };
      const first = world.start([once, check(found)], { host });
      void (await first.runtime.session("s")).request("r", call).catch(() => undefined);
      await world.quiet();
      first.kill();
      const session = await world.start([once, check(found)], { host }).runtime.session("s");
      const [reply] = await session.request("r", call);
      const payload = reply?.output.outcome.payload;
      if (typeof expected === "string") expect(payload).toBe(expected);
      else expect(payload).toMatchObject(expected as object);
    }
    expect(looked).toEqual(cases.map(() => ["echo", "owner_lost"]));
  });

  it("leaves it to a person", async () => {
    const world = new World();
    const never = new Promise<never>(() => undefined);
    const hangs = defineTool({ name: "echo", execute: () => never });
    const host: HostPort = { resolveOutcome: async () => ({ type: "person" }) };
    const first = world.start([hangs], { host });
    void (await first.runtime.session("s")).request("r", call).catch(() => undefined);
    await world.quiet();
    first.kill();
    const session = await world.start([hangs], { host }).runtime.session("s");
    const replies = session.request("r", call);
    await world.quiet();
    const output = { outcome: { status: "success", payload: "paid" } } as const;
    await session.report({ type: "outcome.resolved", call: "r:c", resolved: { type: "verified", output }, by: "ann" });
    expect((await replies)[0]?.output.outcome.payload).toBe("paid");
  });
});

describe("outside work of a cancelled call", () => {
  it("is ended by the host, tried until it says so", async () => {
    const world = new World();
    const told: ExternalWork[] = [];
    const cancelExternal = async (work: ExternalWork): Promise<void> => {
      told.push(work);
      if (told.length === 1) throw new Error("busy");
    };
    const asks = defineTool({ name: "echo", execute: (_, ctx) => (ctx.completionKey(), pending()) });
    const session = await world.start([asks], { host: { cancelExternal } }).runtime.session("s");
    const replies = session.request("r", call);
    await world.quiet();
    await session.report({ type: "call.cancelled", call: "r:c" });
    await world.quiet();
    expect([told.length, session.state.outbox.size]).toEqual([1, 1]);
    world.platform.advance(1000);
    await world.quiet();
    expect([told.length, session.state.outbox.size]).toEqual([2, 0]);
    expect(told[1]).toMatchObject({ scope: "session:s", call: "r:c" });
    expect((await replies)[0]?.output.outcome.status).toBe("cancelled");
  });
});

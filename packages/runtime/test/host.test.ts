/** Tests what a body asks of its host: asked again after a crash, and answered once. */
import { describe, expect, it } from "vitest";
import {
  type HostPort,
  type ProcessStarted,
  type ToolContext,
  type TriggerStore,
  defineTool,
  recordedTriggers,
} from "../src/index.ts";
import { World } from "./world.ts";

const calls = [{ label: "c1", tool: "asks", args: {} }];
const asks = (execute: (ctx: ToolContext) => Promise<unknown>) =>
  defineTool({ name: "asks", durable: true, execute: (_, ctx) => execute(ctx) });

describe("a host that dies before it has answered", () => {
  const occurrence = { occurrence_id: "o", started_process_ids: [] };
  const trigger = { sourceType: "t", sourceKey: "k", payload: 1, idempotencyKey: "i" };
  const read = { occurrenceId: "o", startedProcessIds: [] };
  for (const [what, ask, answer, said] of [
    ["a request", (ctx: ToolContext) => ctx.host("quote", { of: "tea" }), { pence: 7 }, { pence: 7 }],
    ["a trigger", (ctx: ToolContext) => ctx.triggers.emit(trigger), occurrence, read],
  ] as const)
    it(`is asked for ${what} again, under the same key`, async () => {
      const world = new World();
      const asked: unknown[] = [];
      const one = world.start([asks(ask)], {
        host: { request: (...of) => (asked.push(of.slice(0, 3)), new Promise<never>(() => undefined)) },
      });
      void (await one.runtime.session("s")).request("r", calls).catch(() => undefined);
      await world.quiet();
      one.kill();
      const two = world.start([asks(ask)], {
        host: { request: async (...of) => (asked.push(of.slice(0, 3)), answer) },
      });
      let payload: unknown = "nothing yet";
      const session = await two.runtime.session("s");
      void session.request("r", calls).then(([reply]) => (payload = reply?.output.outcome.payload));
      await world.quiet();
      expect(payload).toEqual(said);
      expect(asked).toHaveLength(2);
      expect(asked[1]).toEqual(asked[0]);
    });
});

describe("triggers that a host stores", () => {
  const trigger = { sourceType: "mail", sourceKey: "inbox", payload: { from: "ann" }, idempotencyKey: "m1" };
  const twice = asks(async (ctx) => [await ctx.triggers.emit(trigger), await ctx.triggers.emit(trigger)]);

  it("are told in its own words, once each over a crash, and are in the reply", async () => {
    const world = new World();
    const told: unknown[] = [];
    const triggers: TriggerStore = {
      emit: async (one, { session, label }) => {
        told.push([one, session, label]);
        return { occurrenceId: `o${told.length}`, startedProcessIds: ["p"] };
      },
    };
    const { runtime } = world.start([twice], { host: { triggers } });
    const replies = await (await runtime.session("s")).request("r", calls);
    expect(told).toEqual([
      [trigger, "s", "c1"],
      [trigger, "s", "c1"],
    ]);
    expect(replies[0]?.output.outcome.payload).toEqual(
      ["o1", "o2"].map((occurrenceId) => ({ occurrenceId, startedProcessIds: ["p"] })),
    );
    expect(replies.triggers).toMatchObject([{ occurrence_id: "o1" }, { occurrence_id: "o2" }]);
  });

  it("are one occurrence for the store that keeps them on record alone", async () => {
    const { runtime } = new World().start([twice], { host: { triggers: recordedTriggers } });
    const of = async (session: string, request: string) => {
      const [reply] = await (await runtime.session(session)).request(request, calls);
      return reply?.output.outcome.payload as readonly { readonly occurrenceId: string }[];
    };
    const [first, again] = await of("s", "r");
    expect(first?.occurrenceId).toMatch(/^[0-9a-f]{16,}$/);
    expect(again).toEqual(first);
    expect(await of("s", "r2")).toEqual([first, first]);
    expect((await of("t", "r"))[0]).not.toEqual(first);
  });
});

it("a caller is told of the processes that its call starts, and callers of other requests are not", async () => {
  const told: unknown[] = [];
  const start = asks(async (ctx) => ctx.emitChildProcessStarted(`p-${ctx.session}`, "main"));
  const { runtime } = new World().start([start], { host: { childStarted: (...of) => told.push(of) } });
  const session = await runtime.session("s");
  const onProcessStarted = (started: ProcessStarted): void => void told.push(started);
  await session.request("r", calls, { onProcessStarted });
  await session.call("asks", {}, { id: "r2" });
  expect(told).toEqual([
    ["r:c1", "p-s", "main"],
    { call: "r:c1", process: "p-s", name: "main" },
    ["r2:1", "p-s", "main"],
  ]);
});

it.each([
  [1, ["r:c1:host:quote", "r:c1:host:quote"]],
  [2, ["session:ann/r:c1:host:quote", "session:bob/r:c1:host:quote"]],
])(
  "requests of two sessions under one request id: their keys at the host under protocol %i",
  async (protocol, keys) => {
    const asked: string[] = [];
    const host: HostPort = { request: async (_name, _input, key) => (asked.push(key), null) };
    const { runtime } = new World(protocol).start([asks((ctx) => ctx.host("quote", {}))], { host });
    for (const name of ["ann", "bob"]) await (await runtime.session(name)).request("r", calls);
    expect(asked).toEqual(keys);
  },
);

it("a call that began before its scope was upgraded asks its host again under the key that it had", async () => {
  const world = new World();
  const asked: string[] = [];
  const host: HostPort = { request: (_name, _input, key) => (asked.push(key), new Promise<never>(() => undefined)) };
  const tools = [asks((ctx) => ctx.host("quote", {}))];
  const one = world.start(tools, { host, upgrade: "never" });
  void (await one.runtime.session("s")).request("r", calls).catch(() => undefined);
  await world.quiet();
  one.kill();
  const session = await world.start(tools, { host }).runtime.session("s");
  await world.quiet();
  expect(session.state.scope.protocol).toBe(2);
  expect(asked).toEqual(["r:c1:host:quote", "r:c1:host:quote"]);
});

it("a host is told which call of which session asks, also where a plugin does", async () => {
  const asked: unknown[] = [];
  const trace = { kind: "emit_trace", name: "seen", payload: 1 } as const;
  const host: HostPort = {
    plugins: [{ id: "p", beforeToolCall: () => [trace] }],
    request: async (name, _input, _key, { scope, session, request, call, label, tool }) => (
      asked.push({ name, scope, session, request, call, label, tool }),
      null
    ),
  };
  const { runtime } = new World().start([asks((ctx) => ctx.host("quote", { of: "tea" }))], { host });
  await (await runtime.session("s")).request("r", calls);
  const of = { scope: "session:s", session: "s", request: "r", call: "r:c1", label: "c1", tool: "asks" };
  expect(asked).toEqual([
    { name: "emit_trace", ...of },
    { name: "quote", ...of },
  ]);
});

it.each([1, 2])(
  "an answer to what a body asked before it began anew is not one to what it asks now: protocol %i",
  async (protocol) => {
    const world = new World(protocol);
    const answers: ((price: number) => void)[] = [];
    const tool = defineTool({
      name: "asks",
      durable: true,
      execute: async (args, ctx) => {
        const { round } = args as { readonly round?: number };
        const price = ctx.host("price", { round: round ?? 1 });
        if (round === undefined) return ctx.continueAs({ round: 2 });
        return price;
      },
    });
    const request: HostPort["request"] = () => new Promise((resolve) => void answers.push(resolve));
    const session = await world.start([tool], { host: { request } }).runtime.session("s");
    const replies = session.request("r", calls);
    await world.quiet();
    if (protocol > 1) {
      expect(answers).toHaveLength(1); // The first life waits for what it asked.
      world.platform.advance(60_000);
      await world.quiet();
    }
    expect(answers).toHaveLength(2);
    answers[0]?.(1);
    await world.quiet();
    answers[1]?.(2);
    expect((await replies)[0]?.output.outcome.payload).toBe(2);
  },
);

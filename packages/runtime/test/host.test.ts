/** What a body asks of its host: asked again after a crash, and answered once. */
import { describe, expect, it } from "vitest";
import { type HostPort, type ToolContext, defineTool } from "../src/index.ts";
import { World } from "./world.ts";

const calls = [{ label: "c1", tool: "asks", args: {} }];
const asks = (execute: (ctx: ToolContext) => Promise<unknown>) =>
  defineTool({ name: "asks", durable: true, execute: (_, ctx) => execute(ctx) });

describe("a host that dies before it has answered", () => {
  const occurrence = { occurrence_id: "o", started_process_ids: [] };
  const trigger = { sourceType: "t", sourceKey: "k", payload: 1, idempotencyKey: "i" };
  for (const [what, ask, answer] of [
    ["a request", (ctx: ToolContext) => ctx.host("quote", { of: "tea" }), { pence: 7 }],
    ["a trigger", (ctx: ToolContext) => ctx.triggers.emit(trigger), occurrence],
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
      expect(payload).toEqual(answer);
      expect(asked).toHaveLength(2);
      expect(asked[1]).toEqual(asked[0]);
    });
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

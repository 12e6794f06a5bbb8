/** Calls that come to what a page has not loaded, each in another way. */
import type { Json } from "@pawl/tool-value";
import type * as node from "./runtime.ts";
import type { Stage } from "./stage.ts";

type Session = node.Session;
export type Act = (stage: Stage) => Promise<unknown>;

const called = (stage: Stage, session: Session, args: Json = {}): Promise<readonly unknown[]> =>
  stage.until(session.call("r", [{ id: "c", tool: "t", args }]));

type Body = (ctx: node.ToolContext, args: { readonly n?: number }, api: Stage["api"]) => unknown;

const tool = (stage: Stage, execute: Body, more: object = {}): object => ({
  name: "t",
  durable: true,
  execute: (args: { readonly n?: number }, ctx: node.ToolContext) => execute(ctx, args, stage.api),
  ...more,
});

/** What one body does in one call. */
const body =
  (execute: Body, more: object = {}, host: node.HostPort = {}): Act =>
  async (stage) => {
    const other = { name: "other", execute: (args: Json) => ({ args }) };
    const runtime = stage.start([tool(stage, execute, more), other], { host });
    return called(stage, await runtime.session("s"));
  };

const answering = (answer: Json): node.HostPort => ({ request: async () => answer });

/** What somebody says of a call while it is under way. */
const during =
  (
    execute: Body,
    more: object,
    say: (session: Session, runtime: node.Runtime, stage: Stage) => Promise<unknown>,
  ): Act =>
  async (stage) => {
    const runtime = stage.start([tool(stage, execute, more)], {
      host: { connectionRequired: () => undefined },
    });
    const session = await runtime.session("s");
    const replies = session.call("r", [{ id: "c", tool: "t", args: {} }]);
    await stage.quiet();
    const said = await stage.until(say(session, runtime, stage));
    return [said ?? null, await stage.until(replies)];
  };

const hashIn = (session: Session): string => {
  const row = session.state.calls.at("r:c");
  return row?.phase === "awaiting_approval" ? row.approval.argsHash : "";
};

let token = "";

export const ofBodies: { readonly [what: string]: Act } = {
  "sleeps and takes steps, and awaits them together": body(async (ctx) => {
    const asked = [ctx.sleep(30), ctx.runJson("a", 1, () => "a"), ctx.runJson("b", 2, () => "b"), ctx.sleep(10)];
    return (await Promise.all(asked)).length;
  }),
  "races a sleep against an event": body(async (ctx) => {
    const event = ctx.awaitEventJson("never", { deadlineMs: 500 });
    const won = await ctx.race([event, ctx.sleep(40)]);
    const all = await ctx.all([ctx.runJson("z", 0, () => 1)]);
    return [won ?? null, ctx.uuid("u"), ctx.random(), all];
  }),
  "makes calls of its own, and asks its host": body(
    async (ctx) => {
      const replies = await ctx.batch([{ id: "x", toolId: "tool:other", args: { n: 1 } }]);
      return [replies.length, await ctx.host("clock", { zone: "UTC" })];
    },
    {},
    answering("noon"),
  ),
  "sets off triggers": body(
    (ctx) => ctx.triggers.emit({ source_type: "s", source_key: "k", payload: 1, idempotency_key: "i" }) as never,
    {},
    answering({ occurrence_id: "o", started_process_ids: [] }),
  ),
  "asks for what there is not": body((ctx) => ctx.processEvents.emit("none", 1).catch(String)),
  "lists what there is": body(async (ctx) => [await ctx.tasks.list(), await ctx.processes.listHandles()]),
  "starts anew with other arguments": body((ctx, { n }) => (n === undefined ? ctx.continueAs({ n: 1 }) : n)),
  "fails once, and is tried again": body(
    async (ctx, _, { done, failureOutput, safeRetryFailure }) => {
      await ctx.runJson("kept", null, () => "kept");
      return ctx.attempt > 1 ? "at last" : done(failureOutput(safeRetryFailure("external", "busy", "try again")));
    },
    { retry_policy: { type: "safe", max_attempts: 2, base_delay_ms: 10, max_delay_ms: 0 } },
  ),
  "is prepared by its tool": body((ctx) => ctx.payload, { prepare: () => ({ prepared: true }) }),
  "is hooked, and what the model reads of it is its host's": body(() => "done", {}, {
    plugins: [{ id: "p", afterToolCall: () => [] }],
    projector: async () => [{ type: "text", text: "projected" }],
  } as node.HostPort),
};

export const ofOthers: { readonly [what: string]: Act } = {
  "is approved": during(
    () => "done",
    { policy: "requires_approval" },
    (session) => session.approve("r:c", { hash: hashIn(session), by: "ann" }),
  ),
  "is cancelled, and cleans up": during(
    (ctx) => {
      ctx.onCancel(() => ctx.runJson("clean", null, () => "clean"));
      return new Promise((resolve) => ctx.signal.addEventListener("abort", () => resolve("late")));
    },
    {},
    (session) => session.cancel({ call: "r:c" }),
  ),
  "is completed from outside": during(
    (ctx, _, { pending }) => {
      token = ctx.completionKey();
      return pending();
    },
    {},
    (session) => session.resolve(token, { status: "ok", payload: 7 }),
  ),
  "waits for a connection": during(
    (_ctx, _args, { connectionRequired }) => connectionRequired("mail"),
    {},
    (session) => session.connect("r:c", { status: "refused", message: "no" }),
  ),
  "is an executor's to run": during(
    () => "never",
    { policy: "client_side" },
    async (_, runtime, stage) => {
      const offers: node.Offer[] = [];
      runtime.register({
        id: "e",
        tools: ["tool:t"],
        serves: () => true,
        offer: (offer) => void offers.push(offer),
        cancel: () => undefined,
      });
      for (let i = 0; i < 9 && offers[0] === undefined; i++) await stage.quiet();
      const { scope, call, attempt, run } = offers[0] as node.Offer;
      const output = { outcome: { status: "success", payload: "there" } } as const;
      return runtime.settle("e", { scope, call, attempt, run, output, duration_ms: 1 });
    },
  ),
  "has lost its tool, and its process": async (stage) => {
    const hanging = tool(stage, () => new Promise(() => undefined));
    const first = await stage.start([hanging]).session("s");
    first.call("r", [{ id: "c", tool: "t", args: {} }]).catch(() => undefined);
    await stage.quiet();
    const second = await stage.start([]).session("s");
    await stage.quiet();
    return second.state.calls.rows().map(({ phase }) => phase);
  },
};

const steppedAgain: Body = async (ctx) => [await ctx.runJson("a", 1, () => "x"), await ctx.runJson("b", 2, () => "b")];

/** What a page has at its start is enough for these. */
export const plain: { readonly [what: string]: Act } = {
  "takes steps": body(async (ctx) => {
    const steps = [ctx.runJson("a", 1, () => "a"), ctx.runJson("b", 2, () => Promise.resolve("b"))];
    return [await Promise.all(steps), ctx.uuid("u"), ctx.externalEventKey("e")];
  }),
  "fails, and takes no notice of a step": body((ctx) => {
    void ctx.runJson("a", 1, () => "a");
    throw new Error("no");
  }),
  "can not be made": body(() => "never", { durable: false, availability: "off" }),
  "is there for a tool that is not": async (stage) => called(stage, await stage.start([]).session("s")),
  "goes on after its process was lost": async (stage) => {
    const held = Promise.withResolvers<string>();
    const steps: Body = async (ctx) => [
      await ctx.runJson("a", 1, () => "a"),
      await ctx.runJson("b", 2, () => held.promise),
    ];
    const first = await stage.start([tool(stage, steps)]).session("s");
    first.call("r", [{ id: "c", tool: "t", args: {} }]).catch(() => undefined);
    await stage.quiet();
    held.resolve("b");
    const second = await stage.start([tool(stage, steppedAgain)]).session("s");
    return stage.until(second.replies("r"));
  },
  "is lost with its process, and may not run twice": async (stage) => {
    const hanging = tool(stage, () => new Promise(() => undefined), { durable: false });
    const first = await stage.start([hanging]).session("s");
    first.call("r", [{ id: "c", tool: "t", args: {} }]).catch(() => undefined);
    await stage.quiet();
    const second = await stage.start([hanging]).session("s");
    return stage.until(second.replies("r"));
  },
};

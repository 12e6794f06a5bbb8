/** The programs of the proofs, as a host runs them. */
import { type Runtime, type ToolContext, type ToolDefinition, defineTool } from "@pawl/runtime";

/** The world outside, as tools reach it. */
export interface Outside {
  readonly charge: (who: string, key: string) => Promise<void>;
  readonly note: (who: string, text: string) => Promise<void>;
  readonly wait: (ms: number) => Promise<void>;
}

export interface Program {
  readonly tools: (outside: Outside, version: string) => readonly ToolDefinition[];
  /** Asks for the work of each, under the same request whichever host it is, and reports the replies. */
  readonly serve: (
    runtime: Runtime,
    who: readonly string[],
    replied: (who: string, outcome: unknown) => Promise<void>,
  ) => Promise<unknown>;
  /** Does what a person does. May be repeated. */
  readonly act?: (runtime: Runtime, who: readonly string[]) => Promise<unknown>;
}

const durable = <A>(name: string, execute: (args: A, ctx: ToolContext) => unknown, more: Partial<ToolDefinition> = {}) =>
  defineTool<A>({ name, durable: true, execute, ...more } as ToolDefinition<A>);

const asking =
  (tool: string): Program["serve"] =>
  (runtime, who, replied) =>
    Promise.all(
      who.map(async (one) => {
        const session = await runtime.session(one);
        const [reply] = await session.call("r1", [{ id: "c1", tool, args: { who: one, month: 1 } }]);
        await replied(one, reply?.output.outcome);
      }),
    );

interface Month {
  readonly who: string;
  readonly month: number;
}

const months = 3;
const pauseMs = 120;

/** Charges each month in a life of its own, over a service that honours keys. */
const subscription: Program = {
  tools: ({ charge }) => [
    durable<Month>("subscribe", async ({ who, month }, ctx) => {
      await ctx.runJson("charge", {}, (_, { key }) => charge(who, key));
      await ctx.sleep(pauseMs);
      return month < months ? ctx.continueAs({ who, month: month + 1 }) : "all months";
    }),
  ],
  serve: asking("subscribe"),
};

const eventTypes = ["charged", "signal.pay"].map((name) => ({ name, payload_schema: { schema: {} }, semantics: {} }));

/** The same between two bodies: one signals each month in a life of its own, the other awaits each signal in a life. */
const signals: Program = {
  tools: ({ charge }) => [
    durable<Month>("subscribe", async ({ who, month }, ctx) => {
      const call = { call_id: "c", tool_id: "tool:collect", tool_name: "collect", args: { who, month: 1 }, prepared_payload: null };
      await ctx.processes.start({ id: `p-${who}`, input: { type: "tool_call", call }, event_types: eventTypes });
      await ctx.processes.signal(`p-${who}`, "pay", "a month");
      await ctx.sleep(pauseMs);
      if (month < months) return ctx.continueAs({ who, month: month + 1 });
      return (await ctx.processes.await(`p-${who}`)).type;
    }),
    durable<Month>("collect", async ({ who, month }, ctx) => {
      await ctx.processEvents.awaitSignal("pay");
      await ctx.runJson("charge", {}, (_, { key }) => charge(who, key));
      await ctx.emitProcessEvent("charged", month);
      return month < months ? ctx.continueAs({ who, month: month + 1 }) : "all months";
    }),
  ],
  serve: asking("subscribe"),
};

/** A model loop as a durable tool: its second call waits for a person. */
const agent: Program = {
  tools: ({ charge, note }) => [
    durable<Month>("agent", async ({ who }, ctx) => {
      await ctx.runJson("model 1", {}, () => note(who, "model 1"));
      const [reply] = await ctx.batch([{ id: "pay", toolId: "tool:pay", args: { who } }]);
      await ctx.runJson("model 2", {}, () => note(who, "model 2"));
      return reply?.output.outcome.status;
    }),
    durable<Month>("pay", ({ who }, ctx) => ctx.runJson("pay", {}, (_, { key }) => charge(who, key)), {
      policy: "requires_approval",
    }),
  ],
  serve: asking("agent"),
  act: (runtime, who) =>
    Promise.all(
      who.map(async (one) => {
        const session = await runtime.session(one);
        for (const { call, hash } of await session.approvals()) await session.approve(call, { hash, by: "ann" });
      }),
    ),
};

/** The tool of the README. Its steps take a second each. */
const trip: Program = {
  tools: ({ note, wait }) => [
    durable<Month>("book_trip", async ({ who }, ctx) => {
      const book = (what: string) =>
        ctx.runJson(`book ${what}`, {}, async () => {
          await note(who, what);
          await wait(1000);
          return what;
        });
      return [await book("train"), await book("hotel"), await book("museum")];
    }),
  ],
  serve: asking("book_trip"),
};

export const programs = { subscription, signals, agent, trip } as const;

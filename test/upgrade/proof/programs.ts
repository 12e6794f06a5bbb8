/** The programs of the proofs, as a host runs them. */
import { setTimeout as wait } from "node:timers/promises";
import { type Runtime, type ToolContext, type ToolDefinition, defineTool } from "@pawl/runtime";

/** The world outside, as tools reach it. */
export interface Outside {
  readonly charge: (who: string, key: string) => Promise<void>;
  readonly note: (who: string, text: string) => Promise<void>;
  readonly pause: (ms: number) => Promise<void>;
}

export interface Program {
  readonly tools: (outside: Outside, version: string) => readonly ToolDefinition[];
  /** Asks for the work of each, under the same request whichever host it is, and reports the replies. */
  readonly serve: (
    runtime: Runtime,
    who: readonly string[],
    replied: (who: string, outcome: unknown) => Promise<void>,
  ) => Promise<unknown>;
  /** Does what a person does. May be repeated. `tokens` are what the outside was handed, by who it is for. */
  readonly act?: (
    runtime: Runtime,
    what: "approve" | "answer",
    tokens: { readonly [who: string]: string },
  ) => Promise<unknown>;
}

const durable = <A>(
  name: string,
  execute: (args: A, ctx: ToolContext) => unknown,
  more: Partial<ToolDefinition> = {},
) => defineTool({ name, durable: true, execute, ...more } as ToolDefinition<A>);

const elsewhere: readonly unknown[] = ["owned_by", "scope_lost"];

/** Says if another host owns a session, or has just taken it, so that this one has nothing to do with it. */
const isElsewhere = (thrown: unknown): boolean =>
  thrown instanceof Error && elsewhere.includes((thrown as { readonly code?: unknown }).code);

/** Time before a host asks again for a session that another one owns. */
const askAgainMs = 2000;

/** Asks for the work of a session, on whichever host owns it: this one asks again until it does, or has its reply. */
const askedFor = async (runtime: Runtime, one: string, tool: string): Promise<unknown> => {
  for (;;) {
    try {
      const session = await runtime.session(one);
      const [reply] = await session.request("r1", [{ label: "c1", tool, args: { who: one, month: 1 } }]);
      return reply?.output.outcome;
    } catch (thrown) {
      if (!isElsewhere(thrown)) throw thrown;
      await wait(askAgainMs);
    }
  }
};

const asking =
  (tool: string): Program["serve"] =>
  (runtime, who, replied) =>
    Promise.all(who.map(async (one) => replied(one, await askedFor(runtime, one, tool))));

const acting: NonNullable<Program["act"]> = (runtime, what, tokens) =>
  Promise.all(
    Object.entries(tokens).map(async ([one, token]) => {
      try {
        const session = await runtime.session(one);
        if (what === "answer") await session.resolve(token, { status: "ok", payload: "paid" }, "ann", "a");
        else for (const { call, hash } of await session.approvals()) await session.approve(call, { hash, by: "ann" });
      } catch (thrown) {
        if (!isElsewhere(thrown)) throw thrown;
      }
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
      await ctx.run("charge", ({ key }) => charge(who, key));
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
      const call = {
        call_id: "c",
        tool_id: "tool:collect",
        tool_name: "collect",
        args: { who, month: 1 },
        prepared_payload: null,
      };
      await ctx.processes.start({ id: `p-${who}`, input: { type: "tool_call", call }, eventTypes: eventTypes });
      await ctx.processes.signal(`p-${who}`, "pay", "a month");
      await ctx.sleep(pauseMs);
      if (month < months) return ctx.continueAs({ who, month: month + 1 });
      return (await ctx.processes.await(`p-${who}`)).type;
    }),
    durable<Month>("collect", async ({ who, month }, ctx) => {
      await ctx.processEvents.awaitSignal("pay");
      await ctx.run("charge", ({ key }) => charge(who, key));
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
      await ctx.run("model 1", () => note(who, "model 1"));
      const [reply] = await ctx.callAll([{ label: "pay", tool: "pay", args: { who } }]);
      await ctx.run("model 2", () => note(who, "model 2"));
      return reply?.output.outcome.status;
    }),
    durable<Month>("pay", ({ who }, ctx) => ctx.run("pay", ({ key }) => charge(who, key)), {
      needsApproval: true,
    }),
  ],
  serve: asking("agent"),
  act: acting,
};

/** The tool of the README. Its steps take a second each. */
const trip: Program = {
  tools: ({ note, pause }) => [
    durable<Month>("book_trip", async ({ who }, ctx) => {
      const book = (what: string) =>
        ctx.run(`book ${what}`, async () => {
          await note(who, what);
          await pause(1000);
          return what;
        });
      return [await book("train"), await book("hotel"), await book("museum")];
    }),
  ],
  serve: asking("book_trip"),
};

type Order = (args: Month, ctx: ToolContext) => Promise<unknown>;

const approved = (ctx: ToolContext, who: string) => ctx.callAll([{ label: "ok", tool: "approve", args: { who } }]);

/** An order in three versions. The second gives away something more; the third asks for something else first. */
const ordersOf = ({ charge, note }: Outside): { readonly [version: string]: Order } => {
  const step = (ctx: ToolContext, who: string, name: string) =>
    ctx.run(name, ({ key }) => charge(`${who} ${name}`, key));
  const reserve = (ctx: ToolContext, who: string, name: string) =>
    ctx.run(name, async ({ key }) => {
      await note(who, ctx.token("paid"));
      await charge(`${who} ${name}`, key);
    });
  return {
    "1": async ({ who }, ctx) => {
      await reserve(ctx, who, "reserve");
      await approved(ctx, who);
      await step(ctx, who, "ship");
      await ctx.waitFor("paid");
      return step(ctx, who, "bill");
    },
    "2": async ({ who }, ctx) => {
      await reserve(ctx, who, "reserve");
      await approved(ctx, who);
      await step(ctx, who, "ship");
      if (ctx.patched("gift")) await step(ctx, who, "gift");
      await ctx.waitFor("paid");
      return step(ctx, who, "bill");
    },
    "3": async ({ who }, ctx) => {
      await reserve(ctx, who, "hold");
      await approved(ctx, who);
      await step(ctx, who, "ship");
      await ctx.waitFor("paid");
      return step(ctx, who, "bill");
    },
  };
};

/** Orders that wait for an approval, and later for an event: parked sessions that releases are carried over. */
const orders: Program = {
  tools: (outside, version) => [
    durable("order", ordersOf(outside)[version] as Order),
    durable<Month>("approve", () => "approved", { needsApproval: true }),
  ],
  serve: asking("order"),
  act: acting,
};

export const programs = { subscription, signals, agent, trip, orders } as const;

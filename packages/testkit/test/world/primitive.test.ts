/**
 * The primitives of the API, and what holds each: an example, laws over its events, golden logs, and a scenario that is
 * explored here, at every moment of a death and in orders of arrivals. `shared: true` is not among them: it is of one process and
 * records nothing (`driver-node/test/shared.test.ts`).
 */
import { globSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { type EffectError, type ToolContext, type ToolDefinition, defineTool } from "@pawl/runtime";
import { describe, expect, it } from "vitest";
import {
  type Scenario,
  type ScenarioHost,
  describeCrashes,
  describeSchedules,
  exploreCrashes,
  exploreSchedules,
} from "../../src/index.ts";

const root = resolve(import.meta.dirname, "../../../..");

/** Where something stands: a file, or a pattern of files, and a text in it. */
type Place = readonly [files: string, text: string];

interface Held {
  readonly example: Place;
  /** Where its events, or its words, are drawn for the laws of the core. */
  readonly law: Place;
  readonly golden: Place;
  readonly scenario: Scenario;
  /** How many results the orders of arrivals lead to. Default: 1. */
  readonly results?: number;
}

const core = "packages/sansio-core/test";
const laws = `${core}/arbitrary/*.ts`;
const golden = (file: string): string => `${core}/golden/2/${file}.jsonl`;
const guide = "docs/tool-authoring.md";
const calls = [{ label: "c1", tool: "work", args: {} }];

type Body = (ctx: ToolContext, effect: (name: string, key: string) => Promise<string>) => unknown;

const working =
  (body: Body, more: Partial<ToolDefinition> = {}): Scenario["tools"] =>
  ({ effect }) => [
    defineTool({
      ...more,
      name: "work",
      durable: true,
      execute: (_, ctx) => body(ctx, async (name, key) => (await effect(name, { key })).effect),
    }),
  ];

/** The payload of the one call of a request. */
const payloadOf = async (host: ScenarioHost, called = host.request("r1", calls)): Promise<unknown> => {
  const [reply] = await called;
  if (reply?.output.outcome.status !== "success") throw new Error(`found ${JSON.stringify(reply?.output)}`);
  return reply.output.outcome.payload;
};

const wanted = <A>(found: A, is: boolean): A => {
  if (!is) throw new Error(`found ${JSON.stringify(found)}`);
  return found;
};

/** Looks again and again, until there is something. */
const found = async <A>(host: ScenarioHost, look: () => Promise<A | undefined>): Promise<A> => {
  for (;;) {
    const one = await look();
    if (one !== undefined) return one;
    await host.sleep(50);
  }
};

const streams: Scenario = {
  tools: working(async (ctx, effect) => {
    const words = await ctx.stream("words", function* () {
      yield* ["one ", "two ", "three"];
    });
    await ctx.run("mail", ({ key }) => effect("mailed", key));
    return words;
  }),
  host: async (host) => {
    const said = await payloadOf(host);
    return wanted(said, JSON.stringify(said) === '["one ","two ","three"]');
  },
};

const approves: Scenario = {
  tools: working(async (ctx, effect) => {
    const { approved, by } = await ctx.approve({ title: "Pay?", args: { cents: 5 } });
    if (approved) await ctx.run("pay", ({ key }) => effect("paid", key));
    return { approved, by };
  }),
  host: async (host) => {
    const called = host.request("r1", calls);
    const { call, hash } = await found(host, async () => (await host.within((session) => session.approvals()))[0]);
    await host.once((session) => session.approve(call, { hash, by: "ann" }), { as: "decide" });
    const said = await payloadOf(host, called);
    return wanted(said, JSON.stringify(said) === '{"approved":true,"by":"ann"}');
  },
};

/** Two calls, one after the other, of which the second finds what the first has kept. */
const keeps: Scenario = {
  tools: working(async (ctx, effect) => {
    const before = (await ctx.store.get("count")) ?? 0;
    await ctx.run("mail", ({ key }) => effect("mailed", key));
    await ctx.store.set("count", Number(before) + 1);
    return before;
  }),
  host: async (host) => {
    const said = [await payloadOf(host), await payloadOf(host, host.request("r2", calls))];
    const count = await host.within((session) => session.store.get("count"));
    return wanted([...said, count], JSON.stringify([...said, count]) === "[0,1,2]");
  },
};

/** Its tool is the session's; the runtime has another of that name. */
const ownTools: Scenario = {
  tools: working(() => "the runtime's"),
  sessionTools: working(async (ctx, effect) => {
    await ctx.run("pay", ({ key }) => effect("paid", key));
    return "the session's";
  }),
  host: async (host) => {
    const said = await payloadOf(host);
    return wanted(said, said === "the session's");
  },
};

const described: Scenario = {
  tools: working((ctx, effect) => ctx.run("pay", ({ key }) => effect("paid", key))),
  host: async (host) => {
    const called = host.request("r1", calls);
    await host.within((session) => session.describe({ title: "A trip", tags: ["paid"] }), { as: "describe" });
    await called;
    const about = await host.within(async (session) => session.about);
    return wanted(about, about.title === "A trip" && about.tags.join() === "paid");
  },
};

/** Its host asks what it is at, until it is over. */
const asked: Scenario = {
  tools: working(async (ctx, effect) => {
    await ctx.sleep(200);
    return ctx.run("pay", ({ key }) => effect("paid", key));
  }),
  host: async (host) => {
    const called = host.request("r1", calls);
    await host.sleep(100);
    await called;
    const status = await host.within((session) => session.status("r1"));
    const listed = await host.within((session) => session.requests());
    const words = [status.state, ...listed.map(({ request, state }) => `${request} ${state}`)];
    return wanted(words, words.join() === "done,r1 done");
  },
};

const labelled: Scenario = {
  tools: (outside) => [
    defineTool({
      name: "work",
      durable: true,
      execute: async (_, ctx) => {
        const replies = await ctx.callAll(["left", "right"].map((label) => ({ label, tool: "pay", args: {} })));
        return replies.map(({ label }) => label ?? null);
      },
    }),
    defineTool({
      name: "pay",
      durable: true,
      execute: async (_, ctx) => ctx.run("pay", async ({ key }) => (await outside.effect("paid", { key })).effect),
    }),
  ],
  host: async (host) => {
    const said = await payloadOf(host);
    return wanted(said, JSON.stringify(said) === '["left","right"]');
  },
};

/** Somebody outside has the token alone, and tells the runtime. */
const resolved: Scenario = {
  tools: (outside) => [
    defineTool({
      name: "work",
      durable: true,
      execute: async (_, ctx) => {
        const token = ctx.token("paid");
        await ctx.run("mail", async ({ key }) => (await outside.effect("mailed", { key, detail: token })).effect);
        return ctx.waitFor("paid");
      },
    }),
  ],
  host: async (host) => {
    const called = host.request("r1", calls);
    const { detail } = await host.happened("mailed");
    const payment = { status: "ok", payload: 7 } as const;
    await host.within((_, runtime) => runtime.resolve(String(detail), payment, "bank", "payment-1"), { as: "resolve" });
    const said = await payloadOf(host, called);
    return wanted(said, said === 7);
  },
};

/** A step that fails once, and one whose first try takes too long: where time always passes first, all its tries do. */
const retried: Scenario = {
  tools: (outside) => [
    defineTool({
      name: "work",
      durable: true,
      execute: async (_, ctx) => {
        const retry = { attempts: 5, firstDelayMs: 10 };
        const flaky = await ctx.run(
          "flaky",
          async ({ key, attempt }) => {
            if (attempt === 1) throw new Error("busy");
            return (await outside.effect("paid", { key })).effect;
          },
          { retry },
        );
        const work = ctx.run(
          "slow",
          async ({ attempt }) => {
            if (attempt === 1) await outside.sleep(60_000);
            return "in time";
          },
          { retry, timeoutMs: 1000 },
        );
        const slow = await work.catch((thrown: unknown) => (thrown as EffectError).code);
        return [flaky, slow];
      },
    }),
  ],
  host: async (host) => {
    const said = await payloadOf(host);
    return wanted(said, ['["paid","in time"]', '["paid","step_timed_out"]'].includes(JSON.stringify(said)));
  },
};

const primitives: { readonly [name: string]: Held } = {
  "ctx.stream": {
    example: ["examples/stream.ts", "ctx.stream("],
    law: [laws, '"stream.recorded"'],
    golden: [golden("streams"), '"type":"stream.reset"'],
    scenario: streams,
  },
  "ctx.approve": {
    example: [guide, "ctx.approve("],
    law: [laws, '"approval"'],
    golden: [golden("asked-approvals"), '"kind":"approval"'],
    scenario: approves,
  },
  "status and list of requests": {
    example: ["examples/session.ts", "session.requests("],
    law: [`${core}/explain/status.test.ts`, "requestStatus("],
    golden: [golden("ended-requests"), '"ended":"cancelled"'],
    scenario: asked,
  },
  label: {
    example: [guide, "label:"],
    law: [laws, '"batch"'],
    golden: [golden("nested-batch"), '"kind":"batch"'],
    scenario: labelled,
  },
  "runtime.resolve": {
    example: [guide, "runtime.resolve("],
    law: [laws, '"wait.resolved"'],
    golden: [golden("waits"), '"type":"wait.resolved"'],
    scenario: resolved,
  },
  "tools of a session": {
    example: ["examples/session.ts", "tools: ["],
    law: [laws, "own_tools"],
    golden: [golden("about"), '"own_tools":true'],
    scenario: ownTools,
  },
  "store of a session": {
    example: ["examples/session.ts", "ctx.store."],
    law: [laws, '"value.kept"'],
    golden: [golden("about"), '"type":"value.kept"'],
    scenario: keeps,
  },
  "title and tags": {
    example: ["examples/session.ts", "session.describe("],
    law: [laws, '"scope.described"'],
    golden: [golden("about"), '"type":"scope.described"'],
    scenario: described,
  },
  "`retry` and `timeoutMs` of steps": {
    example: [guide, "timeoutMs: 10_000"],
    law: [laws, '"step.failed"'],
    golden: [golden("step-retries"), '"type":"step.failed"'],
    scenario: retried,
    results: 2,
  },
};

const holds = ([files, text]: Place): boolean =>
  globSync(files, { cwd: root }).some((file) => readFileSync(resolve(root, file), "utf8").includes(text));

describe.each(Object.entries(primitives))("%s", (_, { scenario, results = 1, ...places }) => {
  it("has an example, laws and golden logs", () => {
    const missing = Object.entries<Place>(places).filter(([, place]) => !holds(place));
    expect(missing).toEqual([]);
  });

  it("comes to the same whenever its process dies", async () => {
    const report = await exploreCrashes(scenario, { pairs: 10 });
    expect(report.isSafe ? "" : describeCrashes(report)).toBe("");
    expect(report.points).toBeGreaterThan(5);
  });

  it("comes to the same in every order of arrivals", async () => {
    const report = await exploreSchedules(scenario, { orders: 20, sameResult: results === 1 });
    expect(report.isSafe ? "" : describeSchedules(report)).toBe("");
    expect(report.results).toHaveLength(results);
  });
});

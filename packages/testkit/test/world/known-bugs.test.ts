/** Known bugs of other systems, each as a scenario that is correct here at every crash. */
import { type Durable, type Session, type ToolContext, defineTool } from "@pawl/runtime";
import { type CallRef, callRef } from "@pawl/sansio-core";
import { stableHash } from "@pawl/tool-value";
import { describe, expect, it } from "vitest";
import {
  type Outcome,
  type Outside,
  type Scenario,
  type ScenarioHost,
  callsOf,
  exploreCrashes,
  exploreSchedules,
  runScenario,
} from "../../src/index.ts";
// oxlint-disable-next-line import/no-unassigned-import -- it makes `toBeSafe` known
import "../../src/vitest.ts";

const work = (execute: (ctx: ToolContext, outside: Outside) => Promise<unknown>) => (outside: Outside) => [
  defineTool({ name: "work", durable: true, execute: (_, ctx) => execute(ctx, outside) }),
];
const call = { label: "c1", tool: "work", args: {} };

const once = (host: ScenarioHost, as: string, act: (session: Session) => Promise<unknown>): Promise<void> =>
  host.once(act, { as, request: "r1" });

const tokenFor = async (ctx: ToolContext, { effect }: Outside, name: string): Promise<void> => {
  await ctx.run(`ask-${name}`, async ({ key }) => {
    await effect(`ask ${name}`, { key, detail: ctx.token(name) });
  });
};
const resolve = async (host: ScenarioHost, name: string, payload: number): Promise<void> => {
  const { detail } = await host.happened(`ask ${name}`);
  await once(host, `resolve ${name}`, (session) => session.resolve(String(detail), { status: "ok", payload }));
};

const valueOf = ({ result }: Outcome): unknown =>
  (result as readonly { readonly output: { readonly outcome: { readonly payload: unknown } } }[])[0]?.output.outcome
    .payload;

const pairing = (ms: number): Scenario => ({
  tools: work(async (ctx, { sleep }) =>
    Promise.all(
      [3, 1, 2].map(async (n) => {
        const first = await ((input) =>
          ctx.run(`first-${n}`, async () => (ms > 0 && (await sleep(n * ms)), input), { input }))(n);
        return ((input) => ctx.run(`second-${n}`, () => [n, input], { input }))({ first });
      }),
    ),
  ),
  host: callsOf(call),
});

// https://github.com/vercel/workflow/pull/4089, https://github.com/KeeperHub/keeperhub/pull/2072
describe("results of parallel steps, paired in the order of completion and paired otherwise on replay", () => {
  it("belong to their own step at every crash", async () => {
    expect(await exploreCrashes(pairing(10), { pairs: 60 })).toBeSafe();
    const wanted = [3, 1, 2].map((n) => [n, { first: n }]);
    expect(valueOf(await runScenario(pairing(10)))).toEqual(wanted);
  });

  it("belong to their own step in every order of their ends", async () => {
    const report = await exploreSchedules(pairing(0), { sameResult: true });
    expect(report).toBeSafe();
    // All interleavings of three chains with two ends each.
    expect(report).toMatchObject({ orders: 90, isBounded: false });
  });
});

const racing = (timerMs: number, eventMs: number): Scenario => ({
  tools: work(async (ctx, outside) => {
    await tokenFor(ctx, outside, "go");
    const timer = ctx.sleep(timerMs);
    const event = ctx.waitFor("go");
    const first = await Promise.race([timer.then(() => "timer"), event.then((value) => `event ${String(value)}`)]);
    const took = await ctx.run(`after ${first}`, () => first);
    return [first, took, await event];
  }),
  host: async (host) => {
    const called = host.request("r1", [call]);
    await host.happened("ask go");
    await host.sleep(eventMs);
    await resolve(host, "go", 7);
    return called;
  },
});

// https://github.com/vercel/workflow/pull/2171, https://github.com/vercel/workflow/pull/2029
describe("a race of an event from outside with a timer, which takes the other branch on replay", () => {
  it.each([
    ["the event", 60_000, 10, "event 7"],
    ["the timer", 10, 60_000, "timer"],
  ])("keeps the branch of %s", async (_, timerMs, eventMs, first) => {
    const scenario = racing(timerMs, eventMs);
    expect(valueOf(await runScenario(scenario))).toEqual([first, first, 7]);
    expect(await exploreCrashes(scenario, { pairs: 60 })).toBeSafe();
  });
});

const isParked = (host: ScenarioHost, id: CallRef): Promise<boolean> =>
  host.within(async ({ state }) => state.calls.at(id)?.phase === "awaiting_approval");

const decide = async (host: ScenarioHost, n: number): Promise<void> => {
  while (!(await isParked(host, callRef("r1", `c${n}`)))) await host.sleep(50);
  const hash = stableHash({ n });
  await once(host, `decide c${n}`, (session) =>
    n === 2
      ? session.reject(`r1:c${n}`, { hash, by: "p", reason: "no" })
      : session.approve(`r1:c${n}`, { hash, by: "p" }),
  );
};

// https://github.com/mastra-ai/mastra/pull/19435, https://github.com/langchain-ai/langgraph/issues/6626
describe("several approvals that are pending over a restart, and decided in another order", () => {
  const calls = [1, 2, 3].map((n) => ({ label: `c${n}`, tool: "work", args: { n } }));
  const scenario: Scenario = {
    tools: ({ effect }) => [
      defineTool<{ readonly n: number }>({
        name: "work",
        durable: true,
        needsApproval: true,
        execute: ({ n }, ctx) =>
          ctx.run("pay", async ({ key }) => (await effect(`pay ${n}`, { key })).effect, { input: n }),
      }),
    ],
    host: async (host) => {
      const called = host.request("r1", calls);
      for (const n of [3, 1, 2]) await decide(host, n);
      return called;
    },
  };

  it("each go to their own call", async () => {
    const { effects, result } = await runScenario(scenario);
    expect([...effects.keys()].filter((effect) => effect.startsWith("pay")).toSorted()).toEqual(["pay 1", "pay 3"]);
    const outcomes = (
      result as readonly {
        readonly label: string;
        readonly output: { readonly outcome: { readonly status: string } };
      }[]
    ).map(({ label, output }) => [label, output.outcome.status]);
    expect(outcomes).toEqual([
      ["c1", "success"],
      ["c2", "failure"],
      ["c3", "success"],
    ]);
    expect(await exploreCrashes(scenario, { pairs: 40 })).toBeSafe();
  });
});

// https://github.com/mastra-ai/mastra/issues/8902, https://github.com/mastra-ai/mastra/issues/9288
describe("parallel suspends inside a for-each", () => {
  const items = [1, 2, 3];
  const scenario: Scenario = {
    tools: work(async (ctx, outside) =>
      Promise.all(
        items.map(async (item) => {
          await tokenFor(ctx, outside, `item-${item}`);
          const answer = await ctx.waitFor(`item-${item}`);
          return ((given) => ctx.run(`use-${item}`, () => [item, given], { input: given }))(answer);
        }),
      ),
    ),
    host: async (host) => {
      const called = host.request("r1", [call]);
      for (const item of items.toReversed()) {
        await host.happened(`ask item-${item}`);
        await host.sleep(5000);
        await resolve(host, `item-${item}`, item * 10);
      }
      return called;
    },
  };

  it("each get their own answer, although the body was evicted in between", async () => {
    const outcome = await runScenario(scenario);
    expect(valueOf(outcome)).toEqual(items.map((item) => [item, item * 10]));
    const log = [...outcome.logs.values()]
      .flat()
      .map(({ line }) => line)
      .join("");
    expect(log.split('"type":"call.suspended"').length).toBeGreaterThan(3);
    expect(await exploreCrashes(scenario, { pairs: 40 })).toBeSafe();
  });
});

const inserted = (isDisturbed: boolean): Scenario => ({
  tools: work(async (ctx, { effect, sleep }) => {
    const keys: Durable<string>[] = [];
    for (const n of [1, 2, 3]) {
      keys.push(
        ctx.run("step-" + String(n), async ({ key }) => (await sleep(10), await effect("use", { key }), key), {
          input: n,
        }),
      );
      await ctx.sleep(20);
    }
    return [...(await ctx.all(keys)), ctx.uuid("id"), ctx.random()];
  }),
  host: async (host) => {
    const called = host.request("r1", [call]);
    await host.happened("use");
    if (isDisturbed) {
      await host.within((session) => session.resolveById("of nobody", { status: "ok", payload: 1 }, "p"));
      await host.request("r0", [{ ...call, label: "c9" }]);
    }
    return called;
  },
});

const size = ({ logs }: Outcome): number => [...logs.values()].flat().length;

// https://github.com/vercel/workflow/pull/3389
describe("an event inserted in the log, which renames every id after it", () => {
  it("renames nothing", async () => {
    const [calm, disturbed] = await Promise.all([false, true].map((isDisturbed) => runScenario(inserted(isDisturbed))));
    if (calm === undefined || disturbed === undefined) throw new Error("a run is missing");
    expect(size(disturbed)).toBeGreaterThan(size(calm));
    expect(valueOf(disturbed)).toEqual(valueOf(calm));
  });
});

// https://github.com/openai/openai-agents-js/issues/1521, https://github.com/vercel/ai/issues/19966
describe("a cancel that does not reach the running tool", () => {
  const scenario: Scenario = {
    tools: work(async (ctx, { effect, sleep }) => {
      await ctx.run("begin", async ({ key }) => (await effect("begun", { key }), 1));
      await ctx.run("long", async ({ signal, key }) => {
        const aborted = new Promise<string>((told) => {
          if (signal.aborted) told("aborted");
          signal.addEventListener("abort", () => told("aborted"), { once: true });
        });
        const ended = await Promise.race([aborted, sleep(3_600_000).then(() => "an hour later")]);
        if (ended === "aborted") await effect("stopped", { key });
        return ended;
      });
      await ctx.sleep(3_600_000);
    }),
    host: async (host) => {
      const called = host.request("r1", [call]);
      await host.happened("begun");
      await once(host, "cancel", (session) => session.cancel({ request: "r1" }, "p"));
      return (await called).map(({ output }) => output.outcome.status);
    },
    claims: { stopped: "any", "step work/begin": "any", "step work/long": "any" },
  };

  it("reaches it within the grace time, and ends the call as cancelled at every crash", async () => {
    const { result, effects, elapsedMs } = await runScenario(scenario);
    expect([result, effects.get("stopped")]).toEqual([["cancelled"], 1]);
    expect(elapsedMs).toBeLessThan(60_000);
    expect(await exploreCrashes(scenario, { pairs: 40 })).toBeSafe();
  });
});

const paying = (recovery: "again" | "once", keyed: boolean): Scenario => ({
  tools: work((ctx, { effect }) =>
    ctx.run("pay", async ({ key }) => (await effect("money", keyed ? { key } : {})).effect, { recovery }),
  ),
  host: callsOf(call),
});

// https://github.com/langchain-ai/langgraph/issues/8039
describe("a side effect that is repeated after a crash between effect and record", () => {
  it("does not happen with keys or in a `once` step, and is found otherwise", async () => {
    expect(await exploreCrashes(paying("again", true))).toBeSafe();
    expect(await exploreCrashes(paying("once", false))).toBeSafe();
    expect(await exploreCrashes(paying("again", false))).toMatchObject({ isSafe: false });
  });
});

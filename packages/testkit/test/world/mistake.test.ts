/** Mistakes of tool authors: each is reported by its cause, and similar correct code is accepted. */
import { EffectError, type ToolContext, defineTool } from "@pawl/runtime";
import { pending } from "@pawl/tool-value";
import { describe, expect, it } from "vitest";
import {
  type Outside,
  type Scenario,
  callsOf,
  describeCrashes,
  describeSchedules,
  describeSimulation,
  exploreCrashes,
  exploreSchedules,
  simulate,
} from "../../src/index.ts";

type Body = (ctx: ToolContext, outside: Outside) => unknown;

const scenarioOf = (body: Body, how: { readonly durable?: boolean; readonly hints?: object } = {}): Scenario => ({
  tools: (outside) => [
    defineTool({ name: "pay", durable: true, ...how, execute: (_, ctx) => body(ctx, outside) }),
    defineTool({ name: "idle", durable: true, execute: () => "nothing" }),
  ],
  host: callsOf({ label: "c1", tool: "pay", args: {} }),
});

const wordsOf = async (body: Body, how = {}): Promise<readonly [isSafe: boolean, words: string]> => {
  const report = await exploreCrashes(scenarioOf(body, how), { pairs: 20 });
  return [report.isSafe, describeCrashes(report)];
};

const charge = (ctx: ToolContext, { effect }: Outside, id = "charge", input: unknown = {}): Promise<string> =>
  ctx.run(id, ({ key }) => effect("money", { key, ms: 5 }).then(() => "paid"), { input: input });

/** Pays outside of any step. */
const payingAtOnce: Body = (_, { effect }) => effect("money").then(() => "paid");

const waitingForMoney: Scenario["host"] = async (world) => {
  void world.request("r1", [{ label: "c1", tool: "pay", args: {} }]);
  await world.happened("money");
};

describe("a body that does not repeat its requests", () => {
  let count = 0;
  const inName: Body = (ctx, outside) => charge(ctx, outside, `charge ${count++}`);
  const inInput: Body = (ctx, outside) => charge(ctx, outside, "charge", { count: count++ });

  it("is reported by its requests, not by the steps that it lost", async () => {
    const [isSafe, words] = await wordsOf(inName);
    expect(isSafe).toBe(false);
    expect(words).toMatch(
      /diverged, undisturbed: call `r1:c1` requests step `charge \d+` with \{\} in one run of the scenario and step `charge \d+` with \{\} in another, after the same log/,
    );
    expect(words).toContain("`ctx.now()`");
    expect(words).not.toMatch(/lost|^ {2}step pay/m);
    expect(words.split("\n").length).toBeLessThan(13);
  });

  it("is reported with the input of the step", async () => {
    expect((await wordsOf(inInput))[1]).toMatch(/step `charge` with \{"count":\d+\} in one run/);
  });

  it("is found by seeds and by orders, too", async () => {
    expect(describeSimulation(await simulate(scenarioOf(inName), { seeds: 5 }))).toContain("diverged, undisturbed");
    expect(describeSchedules(await exploreSchedules(scenarioOf(inName)))).toContain("diverged, undisturbed");
  });

  it("may read anything in a step", async () => {
    expect(
      await wordsOf(async (ctx, outside) => {
        const n = await ctx.run("draw", () => (count++, "drawn"));
        await ctx.run("look", () => ({ at: count++ }));
        return charge(ctx, outside, `charge ${n}`);
      }),
    ).toEqual([true, expect.stringContaining("safe")]);
  });

  it("that differs only in its second run is reported without a line of the log", async () => {
    const [, words] = await wordsOf(async (ctx, outside) => {
      const before = outside.now();
      await ctx.sleep(50);
      return charge(ctx, outside, outside.now() - before < 50 ? "late" : "in time");
    });
    expect(words).toMatch(
      /diverged, died at \d+, .*: run \d of call `r1:c1` diverges from its log at request 2: expected the recorded `durable-step:in time`, found step `durable-step:late`/,
    );
    expect(words).not.toContain('"event"');
  });
});

describe("a call that fails without a fault", () => {
  it("is reported with its error", async () => {
    const [isSafe, words] = await wordsOf(() => {
      throw new Error("no configuration");
    });
    expect(isSafe).toBe(false);
    expect(words).toContain("failed, undisturbed: call `r1:c1` ended as `tool_internal_error`: no configuration");
  });

  it("is reported if two steps have one name", async () => {
    const [, words] = await wordsOf(async (ctx, outside) => {
      for (const _ of ["ann", "bob"]) await charge(ctx, outside);
    });
    expect(words).toContain("durable effect step id `charge` was already used");
  });

  it("is reported if the host waits for something that never happens", async () => {
    const scenario = scenarioOf(() => {
      throw new Error("no configuration");
    });
    const words = describeCrashes(await exploreCrashes({ ...scenario, host: waitingForMoney }));
    expect(words).toContain("still waits for effect `money`; call r1:c1 threw: no configuration");
  });
});

/** Starts a step, and returns before it is done. */
const unawaited: Body = (ctx, outside) => {
  void charge(ctx, outside);
  return "paid";
};

const exploreUnawaited = async (runtime: Scenario["runtime"] = {}) =>
  exploreCrashes({ ...scenarioOf(unawaited), runtime }, { pairs: 20 });

describe("unawaited work", () => {
  it("may be a step, which its call waits for before it ends", async () => {
    const report = await exploreUnawaited();
    expect(report.violations).toEqual([]);
    expect(describeCrashes(report)).toContain("money, by pay: 1 time (undisturbed 1)");
  });

  it.each([
    ["of protocol 1", { upgrade: "never" }],
    ["that waits for less time than the step takes", { options: { effectsMs: 1 } }],
  ] as const)("is reported for a step that its call abandons, in a scope %s", async (_, runtime) => {
    const report = await exploreUnawaited(runtime);
    const words = describeCrashes(report);
    expect(report.isSafe).toBe(false);
    expect(words).toContain("lost, undisturbed: call `r1:c1` requested `step pay/charge` and ended before it was done");
  });

  it("is reported for an effect that its step abandons", async () => {
    const [isSafe, words] = await wordsOf((ctx, { effect }) =>
      ctx.run("charge", ({ key }) => {
        void effect("money", { key, ms: 5 });
        return "paid";
      }),
    );
    expect(isSafe).toBe(false);
    expect(words).toContain("`money` was started, and not done when the host had all its answers");
  });

  it("may be the loser of a race", async () => {
    expect(
      await wordsOf(async (ctx, { sleep }) => {
        const near = ctx.run("near", () => sleep(20).then(() => "near"));
        const far = ctx.run("far", () => sleep(30).then(() => "far"));
        const first = await ctx.race([near, far]);
        await ctx.sleep(1000);
        return first;
      }),
    ).toEqual([true, expect.stringContaining("step pay/far: 0 to 1 time")]);
  });

  it("may be a step without claims", async () => {
    const scenario = scenarioOf((ctx, outside) => {
      void charge(ctx, outside);
    });
    const report = await exploreCrashes({ ...scenario, claims: { "step pay/charge": "any" } }, { pairs: 0 });
    expect(report.violations).toEqual([]);
  });
});

describe("a body that is not durable", () => {
  it("may wait for the outside; its outcome is unknown after a crash", async () => {
    const report = await exploreCrashes(scenarioOf(payingAtOnce, { durable: false }), { pairs: 20 });
    expect(report.violations).toEqual([]);
    expect(report.unknown.length).toBeGreaterThan(0);
    expect(describeCrashes(report)).toContain("safe: nothing is lost except where an outcome is unknown");
  });

  it("is found if it claims to be rerunnable but repeats an effect", async () => {
    const [, words] = await wordsOf(payingAtOnce, { durable: false, idempotent: true });
    expect(words).toMatch(/doubled, died at .*; it happened again outside of any step, without a key$/m);
  });

  it("does not excuse a durable one", async () => {
    const [, words] = await wordsOf((_, { effect }) => effect("money", { ms: 5 }).then(() => "paid"));
    expect(words).toContain("waits for the scenario's outside, but not inside a step");
  });
});

describe("a `once` step", () => {
  const once = { recovery: "once" } as const;
  const looking: Body = async (ctx, { effect }) => {
    try {
      await ctx.run("charge", () => effect("money").then(() => null), once);
      return "paid";
    } catch (thrown) {
      if (!(thrown instanceof EffectError) || thrown.code !== "step_outcome_unknown") throw thrown;
      return ctx.run("look", () => effect("person is told").then(() => "who knows"), once);
    }
  };

  it("may be followed up once if its outcome is unknown", async () => {
    expect(await wordsOf(looking)).toEqual([true, expect.stringContaining("person is told, by pay: 0 to 1 time")]);
  });
});

const underOtherKeys: Body = (ctx, { effect, now }) =>
  ctx.run("charge", () => effect("money", { key: `at ${now()}` }).then(() => 1));

describe("a repeated effect", () => {
  it("is reported with its step, and without a key", async () => {
    const [, words] = await wordsOf(async (ctx, { effect }) => {
      await ctx.run("keyed", ({ key }) => effect("money", { key }).then(() => 1));
      await ctx.run("charge", () => effect("money").then(() => 1));
    });
    expect(words).toMatch(/doubled, died at .*; it happened again in step `charge`, without a key$/m);
  });

  it("is reported with its step, if its key differs each time", async () => {
    expect((await wordsOf(underOtherKeys))[1]).toMatch(
      /; it happened again in step `charge`, under another key each time$/m,
    );
  });
});

const asking = (how: object): Scenario => ({
  tools: ({ effect }) => [
    defineTool({
      name: "ask",
      ...how,
      execute: async (_, ctx) => {
        const token = ctx.completionKey();
        await ctx.run("mail", ({ key }) => effect("mail", { key, detail: token }).then(() => null));
        return pending({ on_cancel: "ignore" });
      },
    }),
  ],
  host: async (world) => {
    const replies = world.request("r1", [{ label: "c1", tool: "ask", args: {} }]);
    const { detail } = await world.happened("mail");
    await world.once((session) => session.resolve(String(detail), { status: "ok", payload: "yes" }));
    return (await replies).map(({ output }) => output.outcome);
  },
});

describe("a tool that asks for approval", () => {
  it("is safe if it is durable: it mails again, and is parked", async () => {
    const report = await exploreCrashes(asking({ durable: true }), { pairs: 20 });
    expect(report.violations).toEqual([]);
    expect(report.unknown).toEqual([]);
  });

  it("is reported as not run again, because of its recovery", async () => {
    const words = describeCrashes(
      await exploreCrashes(asking({ durable: true, recovery: "externally_owned" }), { pairs: 20 }),
    );
    const why = "; the body of `ask` is not run again, because its recovery is `externally_owned`";
    expect(words).toMatch(new RegExp(`^ {2}stuck, died at .*${why}$`, "m"));
    expect(words).toMatch(new RegExp(`^ {2}lost, died at .*\`step ask/mail\` happened 0 times.*${why}$`, "m"));
    expect(words.match(/^not_run_again: .*$/gm)).toEqual([
      expect.stringContaining("says `durable: true` and no `recovery`"),
    ]);
    expect(words).not.toContain("has to be inside a durable step");
  });

  it("is reported in the same way without a recovery, and by seeds", async () => {
    const why = "is not run again, because its recovery is `owner_bound`";
    expect(describeCrashes(await exploreCrashes(asking({}), { pairs: 0 }))).toContain(why);
    expect(describeSimulation(await simulate(asking({}), { seeds: 20 }))).toContain(why);
  });
});

describe("a verdict", () => {
  it("says how much it has seen", async () => {
    const [, words] = await wordsOf(charge);
    expect(words).toContain("claimed (seen: 1 effect outside, 1 step)");
  });

  it("says that it has seen nothing outside", async () => {
    const [, words] = await wordsOf((ctx) => ctx.run("write", () => "a file"));
    expect(words).toContain("(seen: 0 effects outside, 1 step; what steps do outside is seen only if it uses");
    expect((await wordsOf(() => "a file"))[1]).toContain(
      "(seen: 0 effects outside, 0 steps; whatever tools do outside",
    );
  });
});

it("lists every kind of harm, however frequent one of them is", async () => {
  const [, words] = await wordsOf(async (ctx, { effect }) => {
    await ctx.run("charge", () => effect("money").then(() => null));
    await ctx.run("mail", () => effect("mail").then(() => null));
  });
  expect(words.match(/^ {2}doubled, .*$/gm)).toEqual([
    expect.stringContaining("`money` of `pay` happened 2 times"),
    expect.stringContaining("`mail` of `pay` happened 2 times"),
  ]);
  expect(words).toMatch(/and \d+ more like it/);
});

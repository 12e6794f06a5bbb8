/** Scenarios that mutants are hunted with. They cover most of a call's life, and each has an expected result. */
import { type Session, ToolError, Refused, defineTool } from "@pawl/runtime";
import { callRef } from "@pawl/sansio-core";
import { done, failureOutput, pending, safeRetryFailure, stableHash } from "@pawl/tool-value";
import type { Scenario, ScenarioHost } from "../../src/index.ts";
import { crashing } from "./crashing.ts";
import { lasting } from "./lasting.ts";
import { resting } from "./resting.ts";
import { streaming } from "./streaming.ts";
import { talking } from "./talking.ts";

export interface Hunt {
  readonly scenario: Scenario;
  readonly expected: unknown;
  /** A result that other orders may have. */
  readonly orElse?: unknown;
  /** The result is expected only without faults. */
  readonly isCalm?: boolean;
}

const outcomes = async (host: ScenarioHost, tool: string, ids: readonly string[] = ["c1"]): Promise<unknown> => {
  const replies = await host.request(
    "r1",
    ids.map((id) => ({ label: id, tool, args: { id } })),
  );
  return replies.map(({ label, output: { outcome } }) => [
    label,
    outcome.status === "failure" ? outcome.payload.code : outcome.status === "success" ? outcome.payload : "cancelled",
  ]);
};

/** Does an act that may have been done before the process died: a refusal then counts as done. */
const once = (host: ScenarioHost, as: string, act: (session: Session) => Promise<unknown>): Promise<void> =>
  host.within(
    async (session) => {
      try {
        await act(session);
      } catch (thrown) {
        if (!(thrown instanceof Refused) || thrown.code === "scope_lost") throw thrown;
      }
    },
    { as },
  );

const sequence: Hunt = {
  scenario: {
    tools: ({ effect }) => [
      defineTool({
        name: "work",
        durable: true,
        execute: async (_, ctx) => {
          const first = await ctx.run("a", async ({ key }) => (await effect("a", { key }), 1), { input: { n: 1 } });
          const [b, c] = await Promise.all([ctx.run("b", () => 2), ctx.run("c", () => 3)]);
          await ctx.sleep(40);
          const won = await Promise.race([ctx.sleep(30).then(() => "slept"), ctx.sleep(3000).then(() => "overslept")]);
          const failed = await ctx.run("f", () => Promise.reject(new Error("no"))).catch(() => "failed");
          return [first, b, c, won, failed];
        },
      }),
    ],
    host: (host) => outcomes(host, "work"),
  },
  expected: [["c1", [1, 2, 3, "slept", "failed"]]],
};

const racing: Hunt = {
  scenario: {
    tools: ({ sleep }) => [
      defineTool({
        name: "work",
        durable: true,
        execute: async (_, ctx) => {
          const left = ctx.run("left", () => "left");
          const right = ctx.run("right", async () => (await sleep(20), "right"));
          const hopping = (async (): Promise<string | undefined> => {
            const heard = await left;
            for (let hops = 0; hops < 5; hops++) await Promise.resolve();
            return heard;
          })();
          const first = await Promise.race([hopping, right]);
          await Promise.all([hopping, right]);
          const second = await ctx.run(`after ${first}`, async () => (await sleep(50), first));
          return first === second ? "kept" : "lost";
        },
      }),
    ],
    host: (host) => outcomes(host, "work"),
  },
  expected: [["c1", "kept"]],
};

const batches: Hunt = {
  scenario: {
    tools: ({ effect }) => [
      defineTool({
        name: "parent",
        durable: true,
        execute: async (_, ctx) => {
          const calls = [1, 2, 3].map((n) => ({
            label: `k${n}`,
            tool: n === 2 ? "tool:serial" : "tool:child",
            args: { n },
          }));
          const both = [await ctx.callAll(calls), await ctx.callAll(calls)];
          return both.map((replies) => replies.map(({ label, output }) => `${label} ${output.outcome.status}`).join());
        },
      }),
      defineTool({ name: "child", durable: true, execute: (_, ctx) => ctx.run("s", () => 1) }),
      defineTool({
        name: "serial",
        durable: true,
        concurrency: "serial",
        execute: (_, ctx) => ctx.run("s", async ({ key }) => (await effect("serial", { key }), 2)),
      }),
    ],
    host: (host) => outcomes(host, "parent", ["c1", "c2"]),
  },
  expected: ["c1", "c2"].map((id) => [id, Array(2).fill("k1 success,k2 success,k3 success")]),
};

const retrying: Hunt = {
  scenario: {
    tools: () => [
      defineTool({
        name: "work",
        durable: true,
        retry: { idempotent: true, attempts: 3, firstDelayMs: 20, maxDelayMs: 0 },
        execute: async (_, ctx) => {
          await ctx.run("kept", () => 1);
          await ctx.run("mail", () => "sent", { input: { sent_at: ctx.now() } });
          return ctx.attempt === 3
            ? ctx.attempt
            : done(failureOutput(safeRetryFailure("execution", "busy", "come again")));
        },
      }),
      defineTool({ name: "told", durable: true, execute: () => Promise.reject(new ToolError("no such file")) }),
      defineTool({ name: "broken", durable: true, execute: () => Promise.reject(new Error("secret")) }),
    ],
    mayFail: true,
    host: async (host) => {
      const replies = await host.request(
        "r1",
        ["told", "broken", "work"].map((tool) => ({ label: tool, tool, args: {} })),
      );
      return replies.map(({ output: { outcome } }) =>
        outcome.status === "failure" ? [outcome.payload.code, outcome.payload.message] : outcome,
      );
    },
  },
  expected: [
    ["tool_error", "no such file"],
    ["tool_internal_error", "An internal error occurred while executing the tool"],
    { status: "success", payload: 3 },
  ],
};

const flaky = ({ attempt: number }: { readonly attempt: number }): number => {
  if (number < 2) throw new Error("busy");
  return number;
};

/** One step is tried again after its delay, and another is asked for as the body ends. */
const trying: Hunt = {
  scenario: {
    tools: ({ effect, sleep }) => [
      defineTool({
        name: "work",
        durable: true,
        execute: async (_, ctx) => {
          const begun = ctx.now();
          const tries = await ctx.run("flaky", flaky, { retry: { attempts: 2, firstDelayMs: 100 } });
          const hasWaited = ctx.now() - begun >= 100;
          void ctx.run("mail", async ({ key }) => (await sleep(20), await effect("mail", { key })));
          return [tries, hasWaited];
        },
      }),
    ],
    host: (host) => outcomes(host, "work"),
  },
  expected: [["c1", [2, true]]],
};

const unknown: Hunt = {
  scenario: {
    tools: ({ effect }) => [
      defineTool({ name: "bound", execute: async () => (await effect("bound"), "done") }),
      defineTool({
        name: "careful",
        durable: true,
        execute: async (_, ctx) =>
          ctx
            .run("pay", async () => (await effect("pay"), "paid"), { recovery: "once" })
            .catch((thrown: unknown) => (thrown as { readonly code?: string }).code ?? "no code"),
      }),
    ],
    claims: { bound: "at_most_once", pay: "at_most_once" },
    host: async (host) => [
      ...((await outcomes(host, "bound")) as unknown[]),
      ...(await host.request("r2", [{ label: "c2", tool: "careful", args: {} }])).map(
        ({ output }) => output.outcome.status,
      ),
    ],
  },
  expected: [["c1", "done"], "success"],
};

const waiting: Hunt = {
  scenario: {
    tools: ({ effect }) => [
      defineTool({
        name: "later",
        durable: true,
        execute: async (_, ctx) => {
          const detail = ctx.completionKey();
          await ctx.run("mail", async ({ key }) => void (await effect("later", { key, detail })));
          return pending();
        },
      }),
      defineTool({
        name: "event",
        durable: true,
        execute: async (_, ctx) => {
          await ctx.run("ask", async ({ key }) => void (await effect("event", { key, detail: ctx.token("e") })));
          await ctx.sleep(2000);
          const never = await ctx
            .waitFor("nobody", { timeoutMs: 100 })
            .catch((thrown: unknown) => (thrown as { readonly code: string }).code);
          const early = await ctx.waitFor("e");
          await ctx.run("ask again", async ({ key }) => {
            await effect("late", { key, detail: ctx.token("l") });
          });
          return [early, never, await ctx.waitFor("l")];
        },
      }),
    ],
    host: async (host) => {
      const called = host.request("r1", [
        { label: "c1", tool: "later", args: {} },
        { label: "c2", tool: "event", args: {} },
      ]);
      for (const [name, payload] of [
        ["later", 1],
        ["event", 2],
        ["late", 3],
      ] as const) {
        const { detail } = await host.happened(name);
        await host.sleep(name === "late" ? 5000 : 10);
        await once(host, name, (session) => session.resolve(String(detail), { status: "ok", payload }));
        const [, , key = ""] = String(detail).split(".");
        const late = { type: "wait.resolved", key, resolution: { status: "ok", payload: 9 } } as const;
        await once(host, `${name} again`, (session) => session.report(late));
      }
      return (await called).map(({ output: { outcome } }) =>
        outcome.status === "success" ? outcome.payload : outcome.status,
      );
    },
  },
  expected: [1, [2, "durable_effect_event_timeout", 3]],
};

const approving: Hunt = {
  scenario: {
    tools: ({ effect }) => [
      defineTool({
        name: "work",
        durable: true,
        needsApproval: true,
        execute: async (_, ctx) => ctx.run("s", async ({ key }) => (await effect("approved", { key }), "ok")),
      }),
    ],
    host: async (host) => {
      const called = outcomes(host, "work", ["c1", "c2", "c3"]);
      for (const id of ["c3", "c1", "c2"]) {
        const call = callRef("r1", id);
        while ((await host.within(async ({ state }) => state.calls.at(call)?.phase)) !== "awaiting_approval")
          await host.sleep(50);
        const seen = { hash: stableHash({ id }), by: "p" };
        await once(host, id, (session) =>
          id === "c1" ? session.reject(call, { ...seen, reason: "no" }) : session.approve(call, seen),
        );
      }
      return called;
    },
  },
  expected: [
    ["c1", "approval_rejected"],
    ["c2", "ok"],
    ["c3", "ok"],
  ],
};

const cancelling: Hunt = {
  scenario: {
    tools: () => [
      defineTool({
        name: "work",
        durable: true,
        execute: async (_, ctx) => {
          await ctx.run("s", () => 1);
          await ctx.sleep(3_600_000);
        },
      }),
    ],
    claims: { "step work/s": "any" },
    host: async (host) => {
      const called = outcomes(host, "work");
      await host.happened("step work/s");
      await once(host, "cancel", (session) => session.cancel({ request: "r1" }, "p"));
      return called;
    },
  },
  expected: [["c1", "cancelled"]],
  orElse: [["c1", null]],
};

const stopping: Hunt = {
  isCalm: true,
  scenario: {
    tools: ({ sleep }) => [
      defineTool({
        name: "work",
        durable: true,
        execute: (_, ctx) =>
          ctx.run("long", async ({ signal }) => {
            const aborted = new Promise((told) => signal.addEventListener("abort", () => told("stopped")));
            return Promise.race([aborted, sleep(3_600_000)]);
          }),
      }),
    ],
    host: async (host) => {
      const called = outcomes(host, "work");
      await host.sleep(100);
      await once(host, "cancel", (session) => session.cancel({ request: "r1" }, "p"));
      return called;
    },
  },
  expected: [["c1", "stopped"]],
};

/** Processes that freeze beyond their lease and wake. */
const standing: Hunt = {
  scenario: {
    runtime: { lease: { ttlMs: 9000 }, pollMs: 3000 },
    tools: ({ effect }) => [
      defineTool({
        name: "work",
        durable: true,
        execute: async (_, ctx) => {
          const names: unknown[] = [];
          for (const name of ["first", "second"]) {
            names.push(await ctx.run(name, async ({ key }) => (await effect(name, { key }), name)));
          }
          await ctx.sleep(500);
          return names;
        },
      }),
    ],
    host: (host) => outcomes(host, "work"),
  },
  expected: [["c1", ["first", "second"]]],
};

/** A subscription: each month is a life, which charges, waits for its own payment, and calls another tool. */
const living: Hunt = {
  scenario: {
    tools: ({ effect }) => [
      defineTool<{ readonly month?: number; readonly sum?: number }>({
        name: "work",
        durable: true,
        execute: async ({ month = 1, sum = 0 }, ctx) => {
          const detail = [ctx.token("paid"), ctx.token("bonus")];
          await ctx.run("charge", async ({ key }) => void (await effect("charge", { key, detail })));
          const paid = Number(await ctx.waitFor("paid"));
          await ctx.callAll([{ label: "k", tool: "post", args: {} }]);
          return month < 3 ? ctx.continueAs({ month: month + 1, sum: sum + paid }) : sum + paid;
        },
      }),
      defineTool({
        name: "post",
        durable: true,
        execute: (_, ctx) => ctx.run("post", async ({ key }) => (await effect("post", { key }), null)),
      }),
    ],
    host: async (host) => {
      const called = outcomes(host, "work");
      const late: unknown[] = [];
      for (const month of [1, 2, 3]) {
        const [paid, bonus] = (await host.happened("charge", month)).detail as readonly string[];
        await once(host, `pay ${month}`, (session) => session.resolve(paid ?? "", { status: "ok", payload: month }));
        await host.happened("post", month);
        if (month < 3) await host.happened("charge", month + 1);
        else await called;
        const told = async (session: Session) => session.resolve(bonus ?? "", { status: "ok", payload: 100 });
        late.push((await host.within(told, { as: `late ${month}` })).status);
      }
      return [await called, late];
    },
  },
  expected: [[["c1", 6]], Array(3).fill("already_resolved")],
};

/** A tool that a person approves each time, whose arguments change with its lives. */
const deciding: Hunt = {
  scenario: {
    runtime: { host: { resolveOutcome: async () => ({ type: "run_again" }) } },
    claims: { acted: "any", "tool work": "any" },
    tools: ({ effect }) => [
      defineTool<{ readonly life?: number }>({
        name: "work",
        needsApproval: true,
        execute: async ({ life = 1 }, ctx) => {
          await effect("acted");
          return life < 3 ? ctx.continueAs({ life: life + 1 }) : "acted";
        },
      }),
    ],
    host: async (host) => {
      const called = outcomes(host, "work");
      const open = Symbol("open");
      while ((await Promise.race([called, open])) === open) {
        await once(host, "decide", async (session) => {
          for (const { call, args, hash } of await session.approvals()) {
            if (hash !== stableHash(args)) throw new Error("a decision is asked for on other arguments than are shown");
            await session.approve(call, { hash, by: "p" });
          }
        });
        await host.sleep(50);
      }
      return called;
    },
  },
  expected: [["c1", "acted"]],
};

/** Begun under protocol 1, and upgraded wherever its first process dies. */
const upgraded = (hunt: Hunt): Hunt => ({ ...hunt, scenario: { ...hunt.scenario, upgrades: true } });

export const hunts = {
  sequence,
  racing,
  batches,
  retrying,
  trying,
  unknown,
  waiting,
  approving,
  cancelling,
  stopping,
  standing,
  living,
  deciding,
  ...resting,
  ...crashing,
  streaming,
  ...talking,
  ...lasting,
  upgrading: upgraded(sequence),
  upgradingWaits: upgraded(waiting),
};

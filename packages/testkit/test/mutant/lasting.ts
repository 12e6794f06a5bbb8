/** Scenarios of steps that outlast their time: those that an attempt leaves, and tries that end after the next has begun. */
import { type Session, Refused, defineTool } from "@pawl/runtime";
import { bodyOf } from "@pawl/sansio-core/driver";
import { done, failureOutput, safeRetryFailure } from "@pawl/tool-value";
import type { Hunt } from "./scenarios.ts";

const phaseOf = async ({ state }: Session): Promise<string | undefined> => state.calls.rows()[0]?.phase;

/** An attempt leaves a step that may run only once; the next one waits for a person beside it. */
const leaving: Hunt = {
  isCalm: true,
  scenario: {
    mayFail: true,
    runtime: { options: { effectsMs: 100 } },
    tools: ({ sleep }) => [
      defineTool({
        name: "work",
        durable: true,
        retry: { attempts: 2, firstDelayMs: 20, maxDelayMs: 0 },
        execute: async (_, ctx) => {
          if (ctx.attempt === 2) return ctx.waitFor("go");
          void ctx.run("pay", () => sleep(1_000_000), { recovery: "once" });
          return done(failureOutput(safeRetryFailure("execution", "busy", "come again")));
        },
      }),
    ],
    claims: { "step work/pay": "any" },
    host: async (host) => {
      const called = host.request("r1", [{ label: "c1", tool: "work", args: {} }]);
      await host.sleep(6000);
      const phase = await host.within(phaseOf);
      await host.within(async (session) => {
        const [wait] = session.state.waits.rows();
        await session.resolveById(wait?.key ?? "", { status: "ok", payload: "went" }, "p");
      });
      const [reply] = await called;
      const epoch = await host.within(async ({ state }) => state.scope.epoch); // The scope was never lost.
      return [phase, reply?.output.outcome.payload, epoch];
    },
  },
  expected: ["suspended", "went", 1],
};

/** Reports the failure of a first try, as a process would that comes back late. */
const failLate = async (session: Session): Promise<string> => {
  const row = session.state.calls.rows()[0];
  const open = row === undefined ? undefined : bodyOf(row)?.open[0];
  const error = { code: "late", message: "it failed after its time" };
  const of = { call: "r1:c1", attempt: 1, run: 1, key: open?.key ?? "" };
  return session.report({ type: "step.settled", ...of, try: 1, result: { status: "err", error } }).then(
    () => "taken",
    (thrown: unknown) => (thrown instanceof Refused ? thrown.code : String(thrown)),
  );
};

/** Of tries that have run out of time a success counts as long as the step is open, and a failure does not. */
const outlasting: Hunt = {
  isCalm: true,
  scenario: {
    tools: ({ sleep }) => [
      defineTool({
        name: "work",
        durable: true,
        execute: async (_, ctx) => {
          const begun = ctx.now();
          const second = await ctx.run("slow", async (tried) => (await sleep(1000), tried.attempt), {
            timeoutMs: 600,
            retry: { attempts: 3, firstDelayMs: 50 },
          });
          const first = await ctx.run("succeeds", async (tried) => (await sleep(300), tried.attempt), {
            timeoutMs: 100,
            retry: { attempts: 3, firstDelayMs: 60_000 },
          });
          return [second, first, ctx.now() - begun < 10_000];
        },
      }),
    ],
    claims: { "step work/slow": "any", "step work/succeeds": "any" },
    host: async (host) => {
      const called = host.request("r1", [{ label: "c1", tool: "work", args: {} }]);
      await host.sleep(800); // The second try is under way.
      const late = await host.within(failLate);
      const [reply] = await called;
      return [late, reply?.output.outcome.payload];
    },
  },
  expected: ["stale_try", [1, 1, true]],
};

export const lasting = { leaving, outlasting };

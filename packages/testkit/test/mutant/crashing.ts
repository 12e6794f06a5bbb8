/** Scenarios of calls whose owner is lost again and again: what counts, what a pause is for, and what the limit means. */
import { type Session, defineTool } from "@pawl/runtime";
import { done, failureOutput, runtimeFailure } from "@pawl/tool-value";
import type { Hunt } from "./scenarios.ts";

/** The phase of each call, with its crashes in a row. */
const rowsOf = ({ state }: Session): string =>
  state.calls
    .rows()
    .toSorted((a, b) => (a.call.ref < b.call.ref ? -1 : 1))
    .map((row) => `${row.phase} ${"body" in row ? (row.body?.resumes ?? 0) : 0}`)
    .join();

const looping: Hunt = {
  isCalm: true,
  scenario: {
    runtime: { options: { maxCrashes: 3, crashPausesMs: [] } },
    tools: ({ sleep }) => [
      defineTool({
        name: "stuck",
        durable: true,
        execute: async (_, ctx) => {
          await ctx.run("short", () => sleep(500));
          await ctx.run("long", () => sleep(1_000_000));
        },
      }),
    ],
    host: async (host) => {
      const seen: string[] = [];
      const note = (): Promise<void> => host.within(async (session) => void seen.push(rowsOf(session)));
      const lose = async (went: "released" | "lost"): Promise<void> => {
        await host.within(async (session) => {
          const [row] = session.state.calls.rows();
          const owner = row?.phase === "running" ? row.owner : "";
          await session.report({ type: "owner.lost", owner, went });
        });
        await host.sleep(20);
        await note();
      };
      const called = host.request("r1", [{ label: "c1", tool: "stuck", args: {} }]);
      await host.sleep(100);
      for (const went of ["lost", "released", "lost", "lost"] as const) await lose(went); // 0: the step was asked for.
      await host.sleep(2000);
      await note();
      for (const went of ["lost", "lost", "released", "lost", "lost"] as const) await lose(went);
      await host.within((session) =>
        session.report({ type: "outcome.resolved", call: "r1:c1", resolved: { type: "give_up" }, by: "p" }),
      );
      const [reply] = await called;
      return [seen, reply?.cause];
    },
  },
  expected: [
    // Five losses with a step of half a second, which is settled then; five with one that never is.
    "running 0|running 0|running 1|running 2|running 0|running 0|running 1|running 1|running 2|unknown 3".split("|"),
    "crash_loop",
  ],
};

const suspects: Hunt = {
  isCalm: true,
  scenario: {
    runtime: { options: { crashPausesMs: [0, 0, 500] } },
    tools: ({ sleep }) => [
      defineTool({
        name: "stuck",
        durable: true,
        execute: (_, ctx) => ctx.run("long", () => sleep(1_000_000)),
      }),
    ],
    host: async (host) => {
      const ids = ["a", "b"];
      void host.request(
        "r1",
        ids.map((id) => ({ label: id, tool: "stuck", args: {} })),
      );
      await host.sleep(100);
      for (let n = 0; n < 4; n++) {
        await host.within(async (session) => {
          const row = session.state.calls.rows().find(({ phase }) => phase === "running");
          await session.report({ type: "owner.lost", owner: row?.phase === "running" ? row.owner : "" });
        });
        await host.sleep(20);
      }
      const seen: string[] = [];
      for (const ms of [0, 600, 600]) {
        await host.sleep(ms);
        await host.within(async (session) => void seen.push(rowsOf(session)));
      }
      return seen;
    },
  },
  expected: ["resuming 3,resuming 3", "running 3,resuming 3", "running 3,running 3"],
};

const liars: Hunt = {
  isCalm: true,
  scenario: {
    runtime: {
      host: { artifacts: async (): Promise<void> => undefined, tell: async (): Promise<void> => undefined },
    },
    tools: () => [
      defineTool({
        name: "liar",
        execute: () => "not here",
        background: async () => done(failureOutput(runtimeFailure("external", "tool_outcome_unknown", "it is a lie"))),
      }),
      defineTool({
        name: "asks",
        durable: true,
        execute: async (_, ctx) => {
          const spawned = await ctx.background.spawn({ tool: "liar", args: {} });
          if (spawned.status !== "started") return spawned.status;
          await ctx.tasks.wait(spawned.task, 3_600_000);
          return "over";
        },
      }),
    ],
    host: async (host) => {
      await host.request("r1", [{ label: "c1", tool: "asks", args: {} }]);
      return host.within(async ({ state }) =>
        state.background.tasks.values().map(({ task }) => [task.state, task.error?.kind]),
      );
    },
  },
  expected: [["failed", "error"]],
};

export const crashing = { looping, suspects, liars };

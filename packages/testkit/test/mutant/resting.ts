/** Scenarios of bodies that leave memory: who leaves, when, and what brings them back. */
import { type Session, defineTool } from "@pawl/runtime";
import type { Hunt } from "./scenarios.ts";

const phasesOf = async ({ state }: Session): Promise<string> =>
  state.calls
    .rows()
    .toSorted((a, b) => a.call.born - b.call.born)
    .map(({ phase }) => phase)
    .join();

/** An agent's loop over a tool that works for some seconds, and then waits for an event. */
const agent = (): Hunt => {
  let runs = 0;
  return {
    isCalm: true,
    scenario: {
      tools: ({ sleep }) => [
        defineTool({
          name: "loop",
          durable: true,
          execute: async (_, ctx) => {
            runs += 1;
            const [reply] = await ctx.callAll([{ label: "x", tool: "works", args: {} }]);
            return reply?.output.outcome.status ?? "none";
          },
        }),
        defineTool({
          name: "works",
          durable: true,
          execute: async (_, ctx) => {
            await ctx.run("work", () => sleep(8000));
            await ctx.waitFor("go");
            return ctx.run("more work", () => sleep(8000));
          },
        }),
      ],
      host: async (host) => {
        runs = 0;
        const called = host.request("r1", [{ label: "c1", tool: "loop", args: {} }]);
        await host.sleep(6000);
        const phases = [await host.within(phasesOf)];
        await host.sleep(10_000);
        phases.push(await host.within(phasesOf));
        await host.within(async (session) => {
          const [wait] = session.state.waits.rows();
          await session.resolveById(wait?.key ?? "", { status: "ok", payload: 1 }, "p");
        });
        await host.sleep(4000);
        phases.push(await host.within(phasesOf));
        const [reply] = await called;
        return [phases, reply?.output.outcome.status, runs];
      },
    },
    expected: [["running,running", "suspended,suspended", "suspended,running"], "success", 2],
  };
};

const takesNoTime = (): Promise<void> => Promise.resolve();

/** A host that takes its time: it works on one request, and asks a person for another; its process may die meanwhile. */
const person = (): Hunt => {
  let ponder: (ms: number) => Promise<void> = takesNoTime;
  return {
    scenario: {
      runtime: {
        host: {
          request: async (name, _input, _key, { waiting }) => {
            if (name === "ask") waiting();
            await ponder(20_000);
            return name;
          },
        },
      },
      tools: ({ sleep }) => {
        ponder = sleep;
        const asks = defineTool({
          name: "asks",
          durable: true,
          execute: async (_, ctx) => [await ctx.host("look", "it up"), await ctx.host("ask", "may I?")],
        });
        return [asks];
      },
      host: async (host) => {
        const [reply] = await host.request("r1", [{ label: "c1", tool: "asks", args: {} }]);
        return reply?.output.outcome.status === "success" ? reply.output.outcome.payload : "no";
      },
    },
    expected: ["look", "ask"],
  };
};

/** Two background runs that sleep, on a worker that has a place for one at a time. */
const sharing = (): Hunt => ({
  isCalm: true,
  scenario: {
    runtime: { background: { workerRuns: 1 } },
    tools: () => [
      defineTool({
        name: "naps",
        idempotent: true,
        execute: async () => "not here",
        background: async (_, ctx) => (await ctx.sleep(20_000), { summary: "rested", result: 1 }),
      }),
      defineTool({
        name: "spawns",
        durable: true,
        execute: async (_, ctx) => (await ctx.background.spawn({ tool: "naps", args: {} })).status,
      }),
    ],
    host: async (host) => {
      const statuses: unknown[] = [];
      for (const request of ["r1", "r2"]) {
        const [reply] = await host.request(request, [{ label: "c1", tool: "spawns", args: {} }]);
        statuses.push(reply?.output.outcome.status === "success" ? reply.output.outcome.payload : "failed");
        await host.sleep(8000);
      }
      return statuses;
    },
  },
  expected: ["started", "started"],
});

export const resting = { agent: agent(), person: person(), sharing: sharing() };

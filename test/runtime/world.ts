/** What seeds come to: simulated worlds and the core simulation, to the byte. Runs in Node and in a browser. */
import { defineTool } from "@pawl/runtime";
import { EventCodec } from "@pawl/sansio-core";
import { type Scenario, exploreSchedules, simulate } from "@pawl/testkit";
import { runCoreSim } from "@pawl/testkit/core-sim";
import { canonicalJson, hashText, stringifyRecord } from "@pawl/tool-value";

/** Two sessions at work: steps at once, a race, a child, a wait that the host resolves, and a service that takes keys. */
const working: Scenario = {
  tools: ({ effect, sleep }) => [
    defineTool({
      name: "work",
      durable: true,
      execute: async (_, ctx) => {
        const both = await ctx.all(["a", "b"].map((name) => ctx.run(name, async () => (await sleep(5), name))));
        const first = await ctx.race([ctx.sleep(600_000), ctx.run("quick", () => "quick", { input: { both } })]);
        await ctx.run("ask", async ({ key }) => {
          await effect(`asked by ${ctx.scope}`, { key, detail: ctx.token("go") });
        });
        const children = await ctx.callAll([{ label: "k", tool: "child", args: {} }]);
        return [both, first ?? null, await ctx.waitFor("go"), children.length, ctx.random(), ctx.uuid("id")];
      },
    }),
    defineTool({ name: "child", durable: true, execute: (_, ctx) => ctx.run("s", () => 1) }),
  ],
  host: (host) =>
    Promise.all(
      ["s1", "s2"].map(async (session) => {
        const called = host.request("r1", [{ label: "c1", tool: "work", args: {} }], session);
        const { detail } = await host.happened(`asked by session:${session}`);
        const answer = { status: "ok", payload: session } as const;
        await host.once((open) => open.resolve(String(detail), answer), { session, request: "r1", as: "answer" });
        return called;
      }),
    ),
};

const careless: Scenario = {
  ...working,
  tools: ({ effect }) => [
    defineTool({
      name: "work",
      durable: true,
      execute: (_, ctx) => ctx.run("s", () => effect("paid").then(() => 1)),
    }),
  ],
  host: (host) => host.request("r1", [{ label: "c1", tool: "work", args: {} }]),
};

/** One text of all that came of a seed: its log, what befell, what was found. */
export const worldsOf = async (seeds: number): Promise<readonly string[]> => {
  const worlds: string[] = [];
  for (let seed = 1; seed <= seeds; seed++) {
    const { failure: failed, ...counts } = await simulate(working, { seed, faultsPerMille: 200, deathsPerMille: 40 });
    worlds.push(canonicalJson({ ...counts, failed: failed === undefined ? null : failed.violation.message }));
  }
  const { failure } = await simulate(careless, { seeds: 100 });
  worlds.push(
    canonicalJson({ seed: failure?.seed ?? 0, fates: failure?.fates ?? "" }),
    ...(failure?.logs.values() ?? []),
  );
  const { orders, pruned, results } = await exploreSchedules(working, { orders: 20 });
  worlds.push(canonicalJson({ orders, pruned, results: results as never }));
  return worlds;
};

/** The hash of each scope's log in a run of the core simulation. */
export const coreSimsOf = (seeds: number): readonly string[] =>
  Array.from({ length: seeds }, (_, i) => runCoreSim(i + 1)).flatMap(({ logs }) =>
    [...logs].map(([scope, log]) =>
      hashText(
        scope + log.map(({ seq, at, event }) => `${seq} ${at} ${stringifyRecord(EventCodec.encode(event))}`).join("\n"),
      ),
    ),
  );

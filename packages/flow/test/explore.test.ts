/** A flow with branches, a loop, a break and a cancel in the runtime: every order, and a crash at every write. */
import { Refused, defineTool } from "@pawl/runtime";
import { type Scenario, type ScenarioHost, exploreCrashes, exploreSchedules, explorerMatchers } from "@pawl/testkit";
import { describe, expect, it } from "vitest";
import * as f from "../src/index.ts";

expect.extend(explorerMatchers);

const program = f.flow("Explored", [
  f.each("item", "$items", [f.when(f.is("item", "==", "b"), [f.stop]), f.use("work", "turn $item")]),
  f.par([f.use("work", "left")], [f.use("work", "right")]),
  f.back("${work_result} after ${item}"),
]);

const submission = { request: "r1", flow: program, bindings: { items: "a, b, c" } };

/** A recorded step: done once, wherever its process dies. */
const tools: Scenario["tools"] = ({ effect }) => [
  defineTool({
    name: "work",
    durable: true,
    execute: (text, ctx) =>
      ctx.run(
        "do",
        async ({ key }) => {
          await effect(String(text), { key });
          return `<${String(text)}>`;
        },
        { input: text },
      ),
  }),
];

const endOf = (host: ScenarioHost) =>
  host.within((session) => session.flow(submission, { keep: true }).then(({ ending }) => ending), { request: "r1" });

const ended: Scenario = { tools, host: endOf };

const ifLive = async (cancel: Promise<void>): Promise<void> => {
  try {
    await cancel;
  } catch (thrown) {
    if (!(thrown instanceof Refused)) throw thrown; // The flow had ended already.
  }
};

const cancelled: Scenario = {
  tools,
  claims: { "turn a": "any", left: "any", right: "any", "step work/do": "any" },
  host: async (host) => {
    const end = endOf(host);
    await host.happened("turn a");
    await host.once((session) => ifLive(session.cancel({ request: "r1" }, "p")), { as: "cancel", request: "r1" });
    return end;
  },
};

describe("a flow with branches, a loop and a break", () => {
  it("comes to the same end in every order", async () => {
    const report = await exploreSchedules(ended, { orders: 200, sameResult: true });
    expect(report).toBeSafe();
  }, 240_000);

  it("comes to the same end wherever its process dies", async () => {
    expect(await exploreCrashes(ended, { pairs: 20 })).toBeSafe();
  }, 240_000);

  it("that is cancelled ends once, in every order", async () => {
    const report = await exploreSchedules(cancelled, { orders: 200 });
    expect(report).toBeSafe();
    const endings = report.results.map(({ result }) => (result as { readonly type: string }).type);
    expect(new Set(endings)).toContain("failed");
  }, 240_000);
});

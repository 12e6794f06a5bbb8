/** Crashes the tool at every moment at which its process could die, with a person who approves. */
import { type ScenarioHost, exploreCrashes } from "@pawl/testkit";
import "@pawl/testkit/vitest";
import { stableHash } from "@pawl/tool-value";
import { expect, it } from "vitest";
import { mailTool } from "./tools.ts";

const args = { to: "ann", text: "hello" };

const approved = async (host: ScenarioHost, call: string): Promise<void> => {
  const isParked = () => host.within(async ({ state }) => state.calls.at(call)?.phase === "awaiting_approval");
  while (!(await isParked())) await host.sleep(100);
  await host.once((session) => session.approve(call, { hash: stableHash(args), by: "ann" }));
};

it("sends once, wherever it dies", { timeout: 60_000 }, async () => {
  const report = await exploreCrashes({
    tools: ({ effect }) => [
      mailTool(async (_to, _text, key) => {
        await effect("a mail goes out", { key });
        return "sent";
      }),
    ],
    host: async (host) => {
      const replies = host.request("r1", [{ label: "c1", tool: "send_mail", args }]);
      await approved(host, "r1:c1");
      return (await replies).map(({ output }) => output.outcome.status);
    },
  });
  expect(report).toBeSafe();
});

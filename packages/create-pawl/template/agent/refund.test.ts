/** Crashes the tool at every moment at which its process could die. */
import { callsOf, exploreCrashes } from "@pawl/testkit";
import "@pawl/testkit/vitest";
import { expect, it } from "vitest";
import { refundTool } from "./refund.ts";

it("refunds once, wherever it dies", { timeout: 60_000 }, async () => {
  const report = await exploreCrashes({
    tools: ({ effect }) => [
      refundTool(async (_order, _cents, key) => {
        await effect("money moves", { key });
        return "paid";
      }),
    ],
    host: callsOf({ label: "c1", tool: "refund", args: { order: "A-1", cents: 500 } }),
  });
  expect(report).toBeSafe();
});

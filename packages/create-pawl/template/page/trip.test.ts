/** Crashes the tool at every moment at which its tab could die. */
import { callsOf, exploreCrashes } from "@pawl/testkit";
import "@pawl/testkit/vitest";
import { expect, it } from "vitest";
import { tripTool } from "./trip.ts";

it("books each thing once, wherever it dies", { timeout: 60_000 }, async () => {
  const report = await exploreCrashes({
    tools: ({ effect }) => [
      tripTool(async (what, key) => {
        await effect(`the ${what} is booked`, { key });
        return what;
      }),
    ],
    host: callsOf({ label: "c1", tool: "book_trip", args: {} }),
  });
  expect(report).toBeSafe();
});

/** The official suite, offline, against a server and a client of ours. */
import { expect, it } from "vitest";
import { runSuite } from "./conformance/suite.ts";

it("every scenario that 2026-07-28 requires passes, and every check of the tasks extension", async () => {
  const { figures, text } = await runSuite();
  const failed = text.split("\n").filter((line) => line.startsWith("✗") || line.includes("  - "));
  expect(figures, failed.join("\n")).toEqual({
    tasks: { passed: 44, total: 44 },
    server: { passed: 37, total: 37 },
    client: { passed: 32, total: 32 },
  });
}, 120_000);

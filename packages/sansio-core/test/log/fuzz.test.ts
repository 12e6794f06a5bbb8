import { expect, it } from "vitest";
import { fuzz } from "./fuzz.ts";

it("spoilt events and spoilt logs never throw, and take no time", () => {
  const { counts, slowestMs } = fuzz(20_000, 1);
  expect(slowestMs).toBeLessThan(2000);
  // A fuzz that nothing gets through, or everything, tries nothing.
  for (const [outcome, count] of Object.entries(counts)) expect([outcome, count > 200]).toEqual([outcome, true]);
});

/** Tests the independence of events, which lets the explorer leave orders out. `pnpm laws` runs it more often. */
import { describe, expect, it } from "vitest";
import { laws, pairs } from "./laws.ts";

describe("the law that", () => {
  it.each(laws)("$name", ({ check }) => {
    const { report } = check({ numRuns: 15, seed: 17 });
    expect(report).toBeUndefined();
  });

  it("is tried on many pairs, of many types", () => {
    const independent = [...pairs.independent.values()].reduce((sum, count) => sum + count, 0);
    expect(independent).toBeGreaterThan(5000);
    expect(pairs.dependent).toBeGreaterThan(1000);
    expect(pairs.independent.size).toBeGreaterThan(100);
  });
});

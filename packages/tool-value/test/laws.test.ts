import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalJson } from "../src/index.ts";
import { pair } from "./arbitrary.ts";
import { laws } from "./laws.ts";

describe("the laws of values", () => {
  for (const { name, check } of laws) {
    it(name, () => {
      expect(check({ numRuns: 300 }).report).toBeUndefined();
    });
  }

  it("try equality on both sides", () => {
    const equal = fc.sample(pair, 1000).filter(([a, b]) => canonicalJson(a) === canonicalJson(b)).length;
    expect(equal).toBeGreaterThan(200);
    expect(equal).toBeLessThan(800);
  });
});

/** Conversations whose server is killed by SIGKILL: nothing is asked twice that was answered, and each effect is done once. */
import { describe, expect, it } from "vitest";
import { live, missedBy, problemsOf } from "./life.ts";
import { lifeUnder, sdks } from "./sdks.ts";

const seeds = [1, 2, 3, 4, 5];

describe("a conversation whose server is killed", { timeout: 60_000 }, () => {
  it.each(seeds.map((seed) => [seed, lifeUnder("ai-sdk", seed)] as const))(
    "comes to its end: %i, %j",
    async (_, life) => {
      const lived = await live(life);
      expect(problemsOf(lived, sdks["ai-sdk"].text)).toEqual([]);
      expect(missedBy(lived, life)).toEqual([]);
    },
  );
});

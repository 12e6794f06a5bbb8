/** Conversations whose server is killed by SIGKILL: nothing is asked twice that was answered, and each effect is done once. */
import { describe, expect, it } from "vitest";
import { lifeOf, live, problemsOf } from "./life.ts";
import { wholeText } from "./model-server.ts";

const seeds = [1, 2, 3, 4, 5];

describe("a conversation whose server is killed", { timeout: 60_000 }, () => {
  it.each(seeds.map((seed) => [seed, lifeOf(seed)] as const))("comes to its end: %i, %j", async (_, life) => {
    const lived = await live(life);
    expect(lived.text).toBe(wholeText);
    expect(problemsOf(lived)).toEqual([]);
    expect(lived.killed.toSorted()).toEqual([...life.kills].toSorted());
  });
});

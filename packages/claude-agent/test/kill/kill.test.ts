/** Sessions whose program is killed by SIGKILL: each effect is done once, and no answer that is in the transcript is asked for again. */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type KillAt, live, problemsOf } from "../../../ai-sdk/test/kill/life.ts";

const program = join(import.meta.dirname, "host.ts");
const lives: readonly (readonly KillAt[])[] = [["in answer 2"], ["before effect 1", "approval"]];

describe("a session whose program is killed", () => {
  it.each(lives.map((kills) => [kills] as const))("comes to its end: %j", async (kills) => {
    const lived = await live({ api: "messages", isStreamed: false, kills, program });
    expect(problemsOf(lived, "All is done.")).toEqual([]);
    expect(lived.killed.toSorted()).toEqual([...kills].toSorted());
  });
});

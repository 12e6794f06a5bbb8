/** Runs whose process is killed by SIGKILL: nothing is asked twice that was answered, and each effect is done once. */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type KillAt, live, problemsOf } from "../../../ai-sdk/test/kill/life.ts";

const program = join(import.meta.dirname, "host.ts");
const lives: readonly (readonly ["chat" | "responses", boolean, readonly KillAt[]])[] = [
  ["chat", false, ["before answer 1", "after effect 2"]],
  ["responses", true, ["in answer 2", "approval"]],
];

describe("a run whose process is killed", { timeout: 40_000 }, () => {
  it.each(lives)("comes to its end: %s, streamed %s, killed %j", async (api, streams, kills) => {
    const lived = await live({ api, isStreamed: false, kills, program, more: streams ? ["streamed"] : [] });
    expect(problemsOf(lived, "All is done.")).toEqual([]);
    expect(lived.killed.toSorted()).toEqual([...kills].toSorted());
  });
});

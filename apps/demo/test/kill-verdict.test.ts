/** The verdict of the scene "Kill it", from the log and from the counts of the outside world. */
import { describe, expect, it } from "vitest";
import type { CallStory, Crash, StepStory, Story } from "../src/page/story.ts";
import { verdictOf } from "../src/scene/kill-verdict.ts";

type Told = Pick<Story, "calls" | "crashes" | "words">;

const step = (name: string, status: StepStory["status"]): StepStory => ({
  name,
  once: false,
  status,
  value: null,
  since: 0,
  until: undefined,
});

const call = (tool: string, ...steps: readonly StepStory[]): CallStory => ({
  ref: tool,
  tool,
  args: {},
  steps: [...steps],
  approval: undefined,
  decision: undefined,
  phase: "running",
  end: undefined,
});

const storyOf = (told: Partial<Told>): Story => ({ calls: [], crashes: [], words: [], ...told }) as Told as Story;
const over = ["I'll book it.", "It is booked."];
const crash: Crash = { kept: 2, again: 1, left: 1 };

const meansOf = (of: Crash): string => verdictOf(storyOf({ crashes: [of] }), true, []).means;

describe("the verdict on a trip that may be killed", () => {
  it("tells the user the first action, and the next one", () => {
    expect(verdictOf(storyOf({}), true, []).words).toBe("Run the agent, then kill its worker.");
    const calls = [call("ask_model", step("complete", "ok"))];
    expect(verdictOf(storyOf({ calls }), true, []).words).toBe("Run the agent, then kill its worker.");
    const both = [...calls, call("book_train", step("find a train", "doing"))];
    expect(verdictOf(storyOf({ calls: both }), true, []).words).toBe("Now kill the worker, in mid-step.");
  });

  it("counts the steps of tools that a dead worker has left", () => {
    const calls = [
      call("ask_model", step("complete", "doing")),
      call("book_train", step("find a train", "ok"), step("reserve seats", "doing")),
    ];
    const verdict = verdictOf(storyOf({ calls }), false, []);
    expect(verdict).toMatchObject({ kind: "dead", words: "The worker is dead, with 1 step cut off." });
  });

  it("counts the steps that the next worker kept, started again, and did not repeat", () => {
    expect(meansOf(crash)).toBe("2 steps kept, 1 started again, 1 not repeated: it runs at most once.");
    expect(meansOf({ kept: 1, again: 0, left: 0 })).toBe("1 step kept.");
  });

  it("reports whether something happened twice, once the outside world has counted", () => {
    const told = storyOf({ words: over, crashes: [crash] });
    expect(verdictOf(told, true, []).words).toBe("It is over.");
    const counts = [
      { effect: "find a train", asked: 1, happened: 1 },
      { effect: "reserve seats", asked: 2, happened: 1 },
    ];
    expect(verdictOf(told, true, counts)).toEqual({
      kind: "alive",
      words: "A crash, and nothing happened twice.",
      means: "The outside world got 3 requests for 2 effects.",
    });
    const doubled = [...counts, { effect: "pay the fare", asked: 2, happened: 2 }];
    expect(verdictOf(told, true, doubled)).toMatchObject({ kind: "harmed", words: "Happened twice: pay the fare." });
    expect(verdictOf(storyOf({ words: over }), true, counts).words).toBe("Done, without a crash.");
  });
});

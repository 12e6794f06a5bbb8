/** The story of a turn, and its verdict: words on record, words that were only shown, and words that died with a worker. */
import type { Command, Event } from "@pawl/sansio-core";
import type { Piece } from "@pawl/sansio-core/driver";
import { describe, expect, it } from "vitest";
import { turnVerdict } from "../src/scene/turn-verdict.ts";
import { TurnStory } from "../src/turn/turn-story.ts";

type Observed = Extract<Command, { readonly type: "turn.observe" }>;

const request = "t";
const none = {} as Event;
const observe = (observed: object): Command => ({ type: "turn.observe", request, ...observed }) as Observed;
const streamed = (...pieces: readonly Piece[]): Event => ({
  type: "model.streamed",
  request,
  n: 1,
  attempt: 1,
  pieces,
});
const delta = (attempt: number, at: number, text: string) => ({ type: "text", n: 1, attempt, at, text }) as const;

/** A story of one answer whose worker died: "Hello" is on record, " wor" was only shown. */
const cutOff = (): TurnStory => {
  const story = new TurnStory();
  story.take(none, [observe({ what: "model_asked", n: 1, attempt: 1 })]);
  story.hear(delta(1, 0, "Hello"));
  story.hear(delta(1, 5, " wor"));
  story.take(streamed({ b: 0, type: "text", text: "Hello" }), []);
  return story;
};

describe("the story of a turn", () => {
  it("tells words on record from words that are only shown", () => {
    const story = cutOff();
    expect(story.answers).toMatchObject([{ said: "Hello wor", recorded: 5, isOver: false }]);
    expect(turnVerdict(story, false).means).toBe("5 letters are on record, 4 letters were only shown.");
  });

  it("keeps what the next attempt goes on from, and shows the rest as lost until it is said again", () => {
    const story = cutOff();
    story.take(none, [
      observe({ what: "model_reset", n: 1, attempt: 2, keep: 5 }),
      observe({ what: "model_asked", n: 1, attempt: 2 }),
    ]);
    expect(story.answers).toMatchObject([{ said: "Hello", recorded: 5, lost: " wor", attempts: 2 }]);
    story.hear(delta(1, 5, " old"));
    expect(story.answers[0]?.said).toBe("Hello");
    story.hear(delta(2, 0, "Hello"));
    story.hear(delta(2, 5, " world"));
    expect(story.answers[0]).toMatchObject({ said: "Hello world", kept: 5 });
    expect(turnVerdict(story, true).words).toBe("It goes on in mid-word.");
  });

  it("has the words of the log where nobody read along", () => {
    const story = new TurnStory();
    story.take(streamed({ b: 0, type: "text", text: "Hel" }), []);
    story.take(streamed({ b: 0, text: "lo" }), []);
    expect(story.answers).toMatchObject([{ said: "Hello", recorded: 5 }]);
  });

  it("asks about a budget until somebody decides", () => {
    const story = new TurnStory();
    const reached = [{ of: "turn", what: "model_calls", limit: 2, used: 2 }];
    story.take(none, [observe({ what: "turn_parked", ask: 1, reached })]);
    expect(story.budget).toEqual({ ask: 1, answers: 2 });
    expect(turnVerdict(story, true).words).toBe("It asks before it goes on.");
    story.take(none, [observe({ what: "turn_resumed", ask: 1 })]);
    expect(story.budget).toBeUndefined();
  });
});

import * as E from "fp-ts/lib/Either.js";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { CallPhase } from "../../src/call/model.ts";
import type { EventType } from "../../src/kernel/vocabulary.ts";
import { play, script } from "../arbitrary/play.ts";
import { eventTypes } from "../arbitrary/wild.ts";
import { laws } from "./laws.ts";

describe("the laws of histories", () => {
  for (const { name, check } of laws) {
    it(name, () => {
      expect(check({ numRuns: 200 }).report).toBeUndefined();
    });
  }
});

/** Phases that a history comes to, and events that it takes and refuses. */
const reached = () => {
  const phases = new Set<CallPhase>();
  const taken = new Set<EventType>();
  const refused = new Set<EventType>();
  for (const one of fc.sample(script(), { numRuns: 3000, seed: 25 })) {
    play(one, ({ result, envelope }) => {
      (E.isRight(result) ? taken : refused).add(envelope.event.type);
      if (E.isRight(result)) for (const { phase } of result.right.state.calls.rows()) phases.add(phase);
    });
  }
  return { phases, taken, refused };
};

it("histories come to every phase, and every event is taken and refused", () => {
  const { phases, taken, refused } = reached();
  expect(phases.size).toBe(15);
  const never = new Set<EventType>(["scope.upgraded", "wake.acked"]);
  expect(eventTypes.filter((type) => !taken.has(type) && !never.has(type))).toEqual([]);
  const always = new Set<EventType>(["clock.ticked", "executors.available"]);
  expect(eventTypes.filter((type) => !refused.has(type) && !always.has(type))).toEqual([]);
});

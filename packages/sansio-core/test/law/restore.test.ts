import { describe as say, stringifyRecord } from "@pawl/tool-value";
import * as fc from "fast-check";
import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it } from "vitest";
import { restore } from "../../src/snapshot/restore.ts";
import { isSameState } from "../../src/snapshot/same.ts";
import { snapshot } from "../../src/snapshot/write.ts";
import { stateHash } from "../../src/log/hash.ts";
import { step } from "../../src/machine.ts";
import type { State } from "../../src/kernel/vocabulary.ts";
import { Dice } from "../arbitrary/dice.ts";
import { plausible } from "../arbitrary/plausible.ts";
import { play, recorded, script, statesOf } from "../arbitrary/play.ts";
import { wild } from "../arbitrary/wild.ts";
import { drive } from "./drive.ts";
import { mutated } from "./mutate.ts";

const refusal = (json: unknown): string => {
  const result = restore(json);
  return E.isLeft(result) ? say(result.left) : "restored";
};

describe("a snapshot that is none", () => {
  it("is refused with the place and the expectation", () => {
    const written = snapshot(play({ world: 1, wildness: 0, moves: [1, 2, 3] }).state) as {
      readonly [key: string]: never;
    };
    expect(refusal(written)).toBe("restored");
    expect(refusal(null)).toContain("expected struct Snapshot");
    expect(refusal({ ...written, version: 2 })).toBe("expected version 1, found 2");
    expect(refusal({ ...written, seq: -1 })).toContain("expected u64 at $.seq");
    expect(refusal({ ...written, requests: [{ phase: "lost" }] })).toContain("at $.requests[0].phase");
    expect(refusal({ ...written, catalog: 99 })).toContain("a catalog of 99 among");
  });
  it("is refused as of a newer protocol, whatever else that has changed in it", () => {
    const written = snapshot(play({ world: 1, wildness: 0, moves: [1, 2, 3] }).state) as { readonly scope: object };
    const newer = { version: 7, scope: { ...written.scope, protocol: 3, status: "resting" }, rows: [] };
    const message = "expected a protocol from 1 to 2, found 3: install the release that brought it, or a later one";
    expect(restore(newer)).toEqual(
      E.left({ code: "newer_protocol", protocol: 3, path: ["scope", "protocol"], message }),
    );
  });
  it("never throws, whatever is spoiled in it; and what is believed nevertheless is a state like any other", () => {
    let believed = 0;
    const property = fc.property(script(60), fc.array(fc.nat(), { minLength: 1, maxLength: 5 }), (one, seeds) => {
      const states = statesOf(play(one));
      for (const seed of seeds) {
        const dice = new Dice(seed);
        const result = restore(mutated(dice, snapshot(dice.pick(states))));
        if (E.isLeft(result)) continue;
        believed += 1;
        let state = result.right;
        for (let i = 0; i < 20; i++) {
          const event = recorded(dice.isUnder(50) ? plausible(dice, state) : wild(dice, state));
          const next = step(state, { seq: state.seq + 1, at: state.at, event });
          if (E.isRight(next)) state = next.right.state;
        }
        drive(state);
      }
    });
    fc.assert(property, { numRuns: 200 });
    expect(believed).toBeGreaterThan(50);
  });
});

describe("a state's hash", () => {
  it("is of what it holds, not of how it came to hold it", () => {
    const property = fc.property(script(), (one) => {
      const { state } = play(one);
      const result = restore(snapshot(state));
      if (E.isLeft(result)) throw new Error(say(result.left));
      expect(stateHash(result.right)).toBe(stateHash(state));
    });
    fc.assert(property, { numRuns: 100 });
  });
  it("tells states apart that differ", () => {
    const states = statesOf(play({ world: 3, wildness: 0, moves: [5, 6, 7, 8, 9, 10, 11, 12] }));
    const texts = new Set(states.map((state) => stringifyRecord(snapshot(state))));
    expect(new Set(states.map(stateHash)).size).toBe(texts.size);
  });
});

const text = (state: State): string => stringifyRecord(snapshot(state));

describe("two states", () => {
  it("are one if their snapshots are, however they were come by", () => {
    let others = 0;
    const property = fc.property(script(40), fc.nat(), (one, seed) => {
      const states = statesOf(play(one));
      const dice = new Dice(seed);
      for (let i = 0; i < 10; i++) {
        const [a, b] = [dice.pick(states), dice.pick(states)];
        const result = restore(snapshot(b));
        if (E.isLeft(result)) throw new Error(say(result.left));
        const isOne = text(a) === text(b);
        if (!isOne) others += 1;
        expect([isSameState(b, result.right), isSameState(a, result.right), isSameState(b, a)]).toEqual([
          true,
          isOne,
          isOne,
        ]);
      }
    });
    fc.assert(property, { numRuns: 50 });
    expect(others).toBeGreaterThan(200);
  });

  it("are two if one row of one says more or less", () => {
    const { state } = play({ world: 1, wildness: 0, moves: [1, 2, 3, 4, 5] });
    const more = { ...state, scope: { ...state.scope, epoch: state.scope.epoch + 1 } };
    const less = { ...state, at: state.at + 1 };
    expect([isSameState(state, more), isSameState(less, state), isSameState(state, { ...state })]).toEqual([
      false,
      false,
      true,
    ]);
  });
});

import type { Json } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it } from "vitest";
import { initial, step } from "../../src/machine.ts";
import { headerLine, recordedOf } from "../../src/log/format.ts";
import { replay } from "../../src/log/replay.ts";
import { segmentLine } from "../../src/log/segment.ts";
import { snapshot } from "../../src/snapshot/write.ts";
import { stateHash } from "../../src/log/hash.ts";
import type { State } from "../../src/kernel/vocabulary.ts";
import { end, lines } from "./log.ts";

const events = lines.slice(1).map((line) => JSON.parse(line) as Json);

const stateAt = (seq: number): State => {
  let state = initial("session:golden");
  for (const json of events.slice(0, seq)) {
    const recorded = recordedOf(json);
    if (E.isLeft(recorded)) throw new Error("the log of the tests can not be read");
    const result = step(state, recorded.right);
    if (E.isLeft(result)) throw new Error("the log of the tests does not fold");
    state = result.right.state;
  }
  return state;
};

const header = (base: number): string =>
  headerLine({ format: 1, protocol: 1, scope: "session:golden", epoch: 1, writer: "golden", base });
const segment = (base: number, more: object = {}): string =>
  segmentLine({ base, hash: "ab", snapshot: snapshot(stateAt(base)) as unknown as Json, kept: [], ...more });

/** Returns what is wrong with a log, and where. */
const codeOf = (...text: readonly string[]) => {
  const { fault } = replay(text);
  return [fault?.code, fault?.line, fault !== undefined && "path" in fault ? fault.path : undefined];
};

describe("a log of which retention left a segment", () => {
  it("goes on from the snapshot that it brings along, wherever it was cut", () => {
    for (let base = 1; base < events.length; base++) {
      const text = [header(base), segment(base), ...lines.slice(1 + base)].join("");
      for (const chunks of [[text], [...text], text.split(/(?<=\n)/)]) {
        const { state, fault, events: count, base: found } = replay(chunks);
        expect(fault).toBeUndefined();
        expect([count, found?.segment.base]).toEqual([events.length - base, base]);
        expect(stateHash(state as State)).toBe(stateHash(end));
      }
    }
  });

  it("keeps the lines that its state refers to", () => {
    const kept = [events[0], events[2]] as readonly Json[];
    const { base, fault } = replay([header(4), segment(4, { kept }), ...lines.slice(5)]);
    expect(fault).toBeUndefined();
    expect(base?.kept.map(({ seq }) => seq)).toEqual([1, 3]);
  });

  it("is refused where the segment does not fit, with the place", () => {
    expect(codeOf(header(4), segment(3), ...lines.slice(5))).toEqual(["segment_invalid", 2, undefined]);
    expect(codeOf(header(4), segment(4, { snapshot: { version: 1 } }))[0]).toBe("segment_invalid");
    expect(codeOf(header(4), segment(4, { kept: [events[5]] }))).toEqual(["segment_invalid", 2, ["kept", 0, "seq"]]);
    expect(codeOf(header(4), segment(4, { kept: [events[2], events[1]] }))).toEqual([
      "segment_invalid",
      2,
      ["kept", 1, "seq"],
    ]);
  });

  it("needs a state to go on from, also where no event follows", () => {
    expect(replay([header(4), ...lines.slice(5)]).fault?.code).toBe("base_mismatch");
    expect(replay([header(4)]).fault?.code).toBe("base_mismatch");
    expect(replay([header(4), ...lines.slice(5)], { from: stateAt(4) }).fault).toBeUndefined();
  });
});

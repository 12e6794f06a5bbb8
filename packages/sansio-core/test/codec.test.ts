import { type Codec, read } from "@pawl/tool-value";
import * as fc from "fast-check";
import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it } from "vitest";
import { EventCodec } from "../src/machine.ts";
import { SnapshotCodec } from "../src/snapshot/shape.ts";
import { snapshot } from "../src/snapshot/write.ts";
import { play, script } from "./arbitrary/play.ts";

/** Counts how often each place of a value is read: a union that tries its members reads one place for each. */
const counted = (value: unknown, counts: Map<string, number>, path = "$"): unknown => {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return Array.isArray(value) ? value.map((item, i) => counted(item, counts, `${path}[${i}]`)) : value;
  }
  const parts = Object.fromEntries(
    Object.entries(value).map(([key, part]) => [key, counted(part, counts, `${path}.${key}`)]),
  );
  return new Proxy(parts, {
    get: (target, key) => {
      const place = `${path}.${String(key)}`;
      counts.set(place, (counts.get(place) ?? 0) + 1);
      return Reflect.get(target, key) as unknown;
    },
  });
};

/** The place that is read most often as a value is decoded, and how often. */
const mostRead = <A>(codec: Codec<A>, written: unknown): readonly [string, number] => {
  const counts = new Map<string, number>();
  const decoded = read(codec, counted(written, counts));
  if (E.isLeft(decoded)) throw new Error(decoded.left.message);
  return [...counts].reduce((most, one) => (one[1] > most[1] ? one : most), ["", 0]);
};

/** A tag is read to pick the member, and once more where a record reads it as a field. */
const fewReads = 3;

describe("codecs pick the member of a union by its tag", () => {
  it("whatever the event: no place of it is read more than a few times", () => {
    const property = fc.property(script(40), (one) => {
      for (const { envelope } of play(one).moves) {
        const [place, times] = mostRead(EventCodec, EventCodec.encode(envelope.event));
        if (times > fewReads) throw new Error(`${envelope.event.type}: ${place} is read ${times} times`);
      }
    });
    fc.assert(property, { numRuns: 100 });
  });
  it("whatever the state: no place of its snapshot is read more than a few times", () => {
    const property = fc.property(script(60), (one) => {
      const [place, times] = mostRead(SnapshotCodec, snapshot(play(one).state));
      if (times > fewReads) throw new Error(`${place} is read ${times} times`);
    });
    fc.assert(property, { numRuns: 100 });
  });
});

const refusal = (json: unknown): string => {
  const result = read(EventCodec, json);
  return E.isLeft(result) ? `${result.left.path.join(".")}: ${result.left.message}` : "accepted";
};

it("an event of no known type, and one that is none, are refused with the place and the expectation", () => {
  expect(refusal({ type: "call.vanished" })).toContain("type: unknown variant `call.vanished`");
  expect(refusal({})).toContain("missing field `type`");
  expect(refusal([])).toContain("expected Event");
  expect(refusal({ type: "reply.acked" })).toContain("missing field `request`");
  expect(refusal({ type: "reply.acked", request: 1 })).toContain("request: invalid type: integer `1`");
});

import { type Json, stringifyRecord } from "@pawl/tool-value";
import { describe, expect, it } from "vitest";
import { EventCodec } from "../../src/codec.ts";
import type { Event } from "../../src/event.ts";
import { eventText } from "../../src/log/event-text.ts";

const of = { call: 'r:"é" \\ call', attempt: 2, run: 3, key: "durable-step:a\nb" };

const values: readonly Json[] = [
  null,
  -1.5,
  123456789012345678901234567890n,
  'text with "quotes", a \u0001 and a long tail that is more than sixty-four units from end to end',
  { $pawl: "object", "10": 1, "2": [], a: { ["__proto__"]: [true, { b: "é😀" }] } },
];

const eventsOf = (value: Json): readonly Event[] => [
  { type: "effect.requested", ...of, hash: "0".repeat(64), effect: { kind: "step", recovery: "once", input: value } },
  { type: "effect.requested", ...of, hash: "a", effect: { kind: "host", name: "ask", input: value } },
  { type: "step.settled", ...of, result: { status: "ok", value } },
  { type: "step.settled", ...of, result: { status: "err", error: { code: "c", message: "m" } } },
];

describe("the text of an event", () => {
  it("is what its codec and the writer of records make, also where it is written straight", () => {
    for (const event of values.flatMap(eventsOf))
      expect(eventText(event)).toBe(stringifyRecord(EventCodec.encode(event)));
  });
});

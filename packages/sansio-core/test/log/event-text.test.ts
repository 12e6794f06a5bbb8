import { type Json, parseRecord, readOwned, stringifyRecord } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it } from "vitest";
import { EventCodec } from "../../src/machine.ts";
import type { Event } from "../../src/kernel/vocabulary.ts";
import { eventOf, eventText } from "../../src/log/format.ts";

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
  {
    type: "effect.requested",
    ...of,
    hash: "a",
    effect: { kind: "step", recovery: "again", input: value },
    patched: { faster: true },
  },
  { type: "effect.requested", ...of, hash: "a", effect: { kind: "host", name: "ask", input: value } },
  { type: "step.settled", ...of, result: { status: "ok", value } },
  { type: "step.settled", ...of, result: { status: "err", error: { code: "c", message: "m" } } },
];

const jsonOf = (text: string): Json => E.getOrElse((): Json => null)(parseRecord(text));

describe("the text of an event", () => {
  it("is what its codec and the writer of records make, also where it is written straight", () => {
    for (const event of values.flatMap(eventsOf))
      expect(eventText(event)).toBe(stringifyRecord(EventCodec.encode(event)));
  });

  it("is read as its codec reads it, also where it is read straight", () => {
    for (const event of values.flatMap(eventsOf)) expect(eventOf(jsonOf(eventText(event)))).toEqual(E.right(event));
  });

  it.each([
    [{ call: "" }, { more: 1, result: { more: 2 } }],
    [{ attempt: -0, run: 0 }, {}],
    [{ call: 7 }, {}],
    [{ call: "\ud800" }, {}],
    [{ attempt: 1.5 }, {}],
    [{ run: -1 }, {}],
    [{ key: null }, {}],
    [{ result: { status: "ok" } }, {}],
    [{ result: { status: "maybe", value: 1 } }, {}],
    [{ result: [] }, {}],
    [{ result: { status: "ok", value: { b: -0, a: 1 } } }, {}],
    [{ type: "step.unsettled" }, {}],
  ])("is taken or refused as by its codec: %j", (other, more) => {
    const settled = { type: "step.settled", ...of, result: { status: "ok", value: 1 } };
    const result = "result" in other ? other.result : { ...settled.result, ...("result" in more ? more.result : {}) };
    const json = (): Json => ({ ...settled, ...more, ...other, result }) as unknown as Json;
    expect(eventOf(json())).toEqual(readOwned(EventCodec, json()));
  });
});

/** In a scope of a frozen protocol nothing younger is written: no type of event, no field and no word that it does not have. */
import { type Event, EventCodec } from "@pawl/sansio-core";
import { runCoreSim } from "@pawl/testkit/core-sim";
import { describe, expect, it } from "vitest";
import { textOf } from "../project.ts";
import { type Frozen, frozenFile } from "./frozen.ts";
import { extraIn } from "./shape.ts";

const { events } = JSON.parse(textOf(frozenFile(1))) as Frozen;

const extraOf = (event: Event): readonly string[] => {
  const shape = events[event.type];
  const { type: _, ...fields } = EventCodec.encode(event) as { readonly type: string };
  return shape === undefined ? [`${event.type}: no such event`] : extraIn(event.type, shape, fields);
};

/** Collects what is younger in the logs of so many seeds, or of fewer where all that is wanted is found sooner. */
const extraUnder = (protocol: number, seeds: number, wanted?: readonly string[]): ReadonlySet<string> => {
  const found = new Set<string>();
  for (let seed = 1; seed <= seeds && wanted?.every((one) => found.has(one)) !== true; seed++)
    for (const log of runCoreSim(seed, { protocol }).logs.values())
      for (const { event } of log) for (const extra of extraOf(event)) found.add(extra);
  return found;
};

describe("logs of the core simulation", () => {
  it("have nothing younger under protocol 1", () => {
    expect([...extraUnder(1, 30)]).toEqual([]);
  });

  it("have it under protocol 2, so that it would be found", () => {
    const wanted = ["message.received.protocol", "call.continued.args_hash"];
    expect([...extraUnder(2, 30, wanted)]).toEqual(expect.arrayContaining(wanted));
  });
});

/** Events that wait for their values: told in the end, or never, and whoever waits behind them goes on. */
import type { Event, State, Written } from "@pawl/sansio-core";
import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it } from "vitest";
import { DeferredEvents } from "../src/scope/offload.ts";

const event: Event = {
  type: "step.settled",
  call: "c",
  attempt: 1,
  run: 1,
  key: "k",
  result: { status: "ok", value: 1 },
};
const kept: Event = { ...event, result: { status: "ok", value: "kept" } };
const written = { line: "" } as Written;

const begin = (tell: (event: Event) => void = () => undefined) => {
  const told: unknown[] = [];
  const scope = {
    isAbandoned: false,
    state: {} as State,
    apply: (said: Event, asKept?: Event) => {
      told.push([said, asKept]);
      tell(said);
      return E.right(written);
    },
    abandon: (why: string) => void told.push(why),
  };
  const late = new DeferredEvents(scope, (what) => void told.push(what));
  const stored = Promise.withResolvers<void>();
  const added = late.add(event, { event: kept, stored: stored.promise }, written);
  const later = E.isRight(added) ? added.right.later : undefined;
  return { late, scope, told, stored, later };
};

describe("an event whose values are on their way", () => {
  it("is told with its place in the log once they are stored, and nobody waits any more", async () => {
    const { late, told, stored, later } = begin();
    const over = late.over;
    expect([told, over === undefined]).toEqual([[], false]);
    stored.resolve();
    await over;
    expect([told, late.over]).toEqual([[[event, kept]], undefined]);
    expect(await later).toEqual(E.right(written));
  });

  it("is told without them where they were not stored, and why is reported", async () => {
    const { late, told, stored } = begin();
    stored.reject(new Error("no room"));
    await late.over;
    expect(told).toMatchObject([
      "a value of `step.settled` was not stored",
      [{ result: { status: "err", error: { code: "value_not_stored" } } }, undefined],
    ]);
  });

  it("costs the scope where it can not be told", async () => {
    const { late, told, stored, later } = begin(() => {
      throw new TypeError("an invariant");
    });
    stored.resolve();
    await late.over;
    expect(told[1]).toContain("an invariant");
    expect(await later).toBeUndefined();
  });

  it("holds up nobody when the scope is gone, and is not told", async () => {
    const { late, scope, told, stored, later } = begin();
    const over = late.over;
    scope.isAbandoned = true;
    late.end();
    await over;
    expect(late.over).toBeUndefined();
    stored.resolve();
    expect([await later, told]).toEqual([undefined, []]);
  });
});

import { expect, it } from "vitest";
import type { SignalType } from "../src/kernel/vocabulary.ts";
import { raises } from "../src/machine.ts";

/** The way back to a signal that it leads to, if there is one. */
const cycleFrom = (start: SignalType): readonly SignalType[] | undefined => {
  const ways: (readonly SignalType[])[] = [[start]];
  const seen = new Set<SignalType>();
  for (let way = ways.pop(); way !== undefined; way = ways.pop()) {
    for (const next of raises[way.at(-1) ?? start]) {
      if (next === start) return [...way, next];
      if (!seen.has(next)) ways.push([...way, next]);
      seen.add(next);
    }
  }
  return undefined;
};

it("no signal leads back to itself, so that every step ends", () => {
  const cycles = (Object.keys(raises) as SignalType[]).flatMap((signal) => cycleFrom(signal)?.join(" > ") ?? []);
  expect(cycles).toEqual([]);
});

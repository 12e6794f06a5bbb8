import { expect, it } from "vitest";
import { type ScheduledItem, resultOrder, startGroups } from "../src/batch/schedule.ts";

const items = (...modes: readonly ScheduledItem["mode"][]): readonly ScheduledItem[] =>
  modes.map((mode, index) => ({ index, mode }));

it("parallel calls start together, then serial ones one at a time", () => {
  expect(startGroups(items("serial", "parallel", "serial", "parallel"))).toEqual([[1, 3], [0], [2]]);
});
it("a call of an unknown tool is parallel", () => {
  expect(startGroups(items(undefined, "serial"))).toEqual([[0], [1]]);
});
it("an empty group is none", () => {
  expect(startGroups([])).toEqual([]);
  expect(startGroups(items("serial", "serial"))).toEqual([[0], [1]]);
});
it("places decide, not the order in which items come", () => {
  const shuffled = items("serial", "parallel", "serial", "parallel").toReversed();
  expect(startGroups(shuffled)).toEqual([[1, 3], [0], [2]]);
  expect(resultOrder(shuffled)).toEqual([0, 1, 2, 3]);
});
it("more than ten places stand in numeric order", () => {
  const many = items(...Array.from({ length: 12 }, () => "parallel" as const)).toReversed();
  expect(startGroups(many)).toEqual([[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]]);
});

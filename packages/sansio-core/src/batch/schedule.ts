/** In which order the calls of a batch start: all parallel ones at once, then the serial ones, one at a time. */
import type { Scheduling } from "../catalog/model.ts";

export interface ScheduledItem {
  /** Its place in the batch. */
  readonly index: number;
  /** Of a tool that nobody knows there is none: it counts as parallel. */
  readonly mode: Scheduling | undefined;
}

const indices = (items: readonly ScheduledItem[]): readonly number[] =>
  items.map(({ index }) => index).toSorted((a, b) => a - b);

/** Groups of places that start together, each when the one before it has settled. */
export const startGroups = (items: readonly ScheduledItem[]): readonly (readonly number[])[] => {
  const parallel = items.filter(({ mode }) => mode !== "serial");
  const serial = items.filter(({ mode }) => mode === "serial");
  const alone = indices(serial).map((index) => [index]);
  return parallel.length === 0 ? alone : [indices(parallel), ...alone];
};

/** Replies stand in the order of the batch, whatever ended first. */
export const resultOrder = (items: readonly ScheduledItem[]): readonly number[] => indices(items);

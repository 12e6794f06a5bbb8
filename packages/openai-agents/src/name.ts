/** Names of the steps of a body: what is asked has its name from what it asks, and a count where that is asked again. */
import { AsyncLocalStorage } from "node:async_hooks";
import type { ToolContext } from "@pawl/runtime";

export type Effects = Pick<ToolContext, "run" | "stream" | "callAll" | "approve" | "store">;

/** Returns a function that acts in the async context of now, where the SDK finds its trace: a step has the context of its call. */
export const here = AsyncLocalStorage.snapshot;

/** Arguments that a person has edited, by the model's ids of the calls; and the tools that can be given them. */
export interface Edits {
  readonly args: Map<string, string>;
  readonly tools: Set<string>;
}
const edits = new WeakMap<object, Edits>();

export const editsOf = (ctx: object): Edits => {
  const found = edits.get(ctx) ?? { args: new Map<string, string>(), tools: new Set<string>() };
  edits.set(ctx, found);
  return found;
};

/** One for each body: providers and tools may be wrapped where they are used, more than once. */
const counts = new WeakMap<Pick<ToolContext, "run">, Map<string, number>>();

export const numbered = (ctx: Pick<ToolContext, "run">, name: string): string => {
  const seen = counts.get(ctx) ?? new Map<string, number>();
  counts.set(ctx, seen);
  const count = (seen.get(name) ?? 0) + 1;
  seen.set(name, count);
  return count === 1 ? name : `${name}#${count}`;
};

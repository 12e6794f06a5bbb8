/** The invariants of the catalog, one function each: what is broken, and in which tool. */
import type { State } from "../kernel/state.ts";

export const checkK1 = ({ catalog: { byName, byId } }: State): string | undefined => {
  if (byName.size !== byId.size) return `K1: ${byName.size} names for ${byId.size} ids`;
  for (const [id, tool] of byId) {
    if (tool.id !== id || byName.get(tool.name) !== tool)
      return `tool \`${id}\`: K1: its name \`${tool.name}\` is another's`;
  }
  return undefined;
};

const availabilities: ReadonlySet<string> = new Set(["off", "searchable", "callable", "showcased"]);

export const checkK2 = ({ catalog: { overrides } }: State): string | undefined => {
  const stray = [...overrides].find(([, availability]) => !availabilities.has(availability));
  return stray === undefined ? undefined : `tool \`${stray[0]}\`: K2: it is overridden to be ${stray[1]}`;
};

export const catalogChecks = [checkK1, checkK2] as const;

/** The manifests of a snapshot: each stands in it once, whoever has it. */
import { stringifyRecord } from "@pawl/tool-value";
import { bodyOf, type CallRow } from "../call/model.ts";
import type { Tool } from "../catalog/model.ts";
import type { State } from "../kernel/state.ts";
import { ToolsCodec } from "./shape.ts";

const textOf = (tool: Tool): string => stringifyRecord(ToolsCodec.encode([tool]));

const byText = ([a]: readonly [string, Tool], [b]: readonly [string, Tool]): number => (a < b ? -1 : 1);
const byId = (a: Tool, b: Tool): number => (a.id < b.id ? -1 : 1);

/** A call has the manifest that it was prepared under, which the catalog may have no longer. */
const manifestOf = (row: CallRow): Tool | undefined => ("manifest" in row ? row.manifest : undefined);

/** Manifests of calls that are not the catalog's own, or not the very same. */
const straysOf = ({ calls }: State, known: ReadonlyMap<Tool, number>): ReadonlySet<Tool> => {
  const strays = new Set<Tool>();
  for (const row of calls.rows()) {
    for (const tool of [manifestOf(row), bodyOf(row)?.manifest]) {
      if (tool !== undefined && !known.has(tool)) strays.add(tool);
    }
  }
  return strays;
};

export interface Manifests {
  /** Those of the catalog first. */
  readonly tools: readonly Tool[];
  readonly catalog: number;
  readonly at: (tool: Tool) => number;
}

export const manifestsOf = (state: State): Manifests => {
  const tools = state.catalog.byId.values().toSorted(byId);
  const catalog = tools.length;
  const places = new Map<Tool, number>(tools.map((tool, i) => [tool, i]));
  const at = (tool: Tool): number => places.get(tool) ?? 0;
  const strays = straysOf(state, places);
  if (strays.size === 0) return { tools, catalog, at };
  const texts = new Map<string, number>(tools.map((tool, i) => [textOf(tool), i]));
  for (const [text, stray] of [...strays].map((tool) => [textOf(tool), tool] as const).toSorted(byText)) {
    const place = texts.get(text) ?? tools.length;
    if (place === tools.length) tools.push(stray);
    texts.set(text, place);
    places.set(stray, place);
  }
  return { tools, catalog, at };
};

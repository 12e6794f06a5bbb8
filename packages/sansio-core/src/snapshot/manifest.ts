/** The manifests of a snapshot: each stands in it once, whoever has it. */
import { stringifyRecord } from "@pawl/tool-value";
import { bodyOf, type CallRow } from "../call/model.ts";
import type { Tool } from "../catalog/model.ts";
import type { State } from "../state.ts";
import { ToolsCodec } from "./shape.ts";

const textOf = (tool: Tool): string => stringifyRecord(ToolsCodec.encode([tool]));

const byText = ([a]: readonly [string, Tool], [b]: readonly [string, Tool]): number => (a < b ? -1 : 1);
const byId = (a: Tool, b: Tool): number => (a.id < b.id ? -1 : 1);

/** A call has the manifest that it was prepared under, which the catalog may have no longer. */
const manifestOf = (row: CallRow): Tool | undefined => ("manifest" in row ? row.manifest : undefined);

export interface Manifests {
  /** Those of the catalog first. */
  readonly tools: readonly Tool[];
  readonly catalog: number;
  readonly at: (tool: Tool) => number;
}

export const manifestsOf = ({ catalog, calls }: State): Manifests => {
  const known = [...catalog.byId.values()].toSorted(byId);
  const places = new Map<Tool, number>(known.map((tool, i) => [tool, i]));
  const texts = new Map<string, number>(known.map((tool, i) => [textOf(tool), i]));
  const older = new Map<string, Tool>();
  const strays = new Map<Tool, string>();
  for (const row of calls.rows()) {
    for (const tool of [manifestOf(row), bodyOf(row)?.manifest]) {
      if (tool === undefined || places.has(tool) || strays.has(tool)) continue;
      const text = textOf(tool);
      strays.set(tool, text);
      if (!texts.has(text)) older.set(text, tool);
    }
  }
  const more = [...older].toSorted(byText);
  for (const [i, [text]] of more.entries()) texts.set(text, known.length + i);
  for (const [tool, text] of strays) places.set(tool, texts.get(text) ?? 0);
  return {
    tools: [...known, ...more.map(([, tool]) => tool)],
    catalog: known.length,
    at: (tool) => places.get(tool) ?? 0,
  };
};

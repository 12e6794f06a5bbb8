/** `parameters` of a tool → `inputSchema`. */
import type { Renaming } from "../rewrite.ts";
import { toolsIn } from "./tool.ts";

export const inputSchema: Renaming = {
  title: "tools: `parameters` → `inputSchema`",
  apply: (source) => {
    for (const tool of toolsIn(source)) source.renameProperty(tool, "parameters", "inputSchema");
  },
};

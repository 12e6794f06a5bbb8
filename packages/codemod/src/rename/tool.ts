/** The objects that define a tool. */
import type { ObjectExpression } from "oxc-parser";
import { objectsOf } from "../object.ts";
import type { Source } from "../source.ts";

/** Lists the definitions of tools in a program, the parts that are spread into one included. */
export const toolsIn = (source: Source): readonly ObjectExpression[] =>
  objectsOf(source, { functions: { defineTool: 0 }, types: ["ToolDefinition"] });

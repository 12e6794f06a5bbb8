/** Tools of a catalog as `tools/list` has them: names, schemas, and annotations from their hints. */
import type { Tool, ToolAnnotations } from "@modelcontextprotocol/server";
import type { Registry } from "@pawl/runtime";
import { type Json, type JsonObject, isObject } from "@pawl/tool-value";
import { forStringify } from "./encoding.ts";

/** A tool that models see, with its contract. */
export type ShownTool = ReturnType<Registry["shown"]>[number];

/** The property that holds arguments which are no object: MCP's always are one. */
export const inputKey = "input";

const combined = ["anyOf", "oneOf", "allOf", "$ref"];

/** Says whether a schema describes objects, as far as its root tells. */
const isOfObjects = (schema: Json): schema is JsonObject =>
  isObject(schema) &&
  (schema["type"] === "object" || (schema["type"] === undefined && combined.some((key) => key in schema)));

/** Says whether the arguments of a tool come under `input`. */
export const isWrapped = ({ input_schema: schema }: Pick<ShownTool, "input_schema">): boolean =>
  !isOfObjects(schema) && !(isObject(schema) && Object.keys(schema).length === 0);

/** Returns the schema of a tool's arguments: of an object, as MCP wants it. */
export const inputSchemaOf = (tool: Pick<ShownTool, "input_schema">): JsonObject => {
  const schema = tool.input_schema;
  if (isWrapped(tool)) return { type: "object", properties: { [inputKey]: schema }, required: [inputKey] };
  return { ...(schema as JsonObject), type: "object" };
};

const annotationsOf = ({ hints, display_name: title }: ShownTool): ToolAnnotations => {
  const isReadOnly = hints.readonly ?? (hints.side_effect_class === "Pure" ? true : undefined);
  const isIdempotent = hints.idempotent ?? (hints.side_effect_class === "Idempotent" ? true : undefined);
  return {
    ...(title === undefined ? {} : { title }),
    ...(isReadOnly === undefined ? {} : { readOnlyHint: isReadOnly }),
    ...(hints.destructive === undefined ? {} : { destructiveHint: hints.destructive }),
    ...(isIdempotent === undefined ? {} : { idempotentHint: isIdempotent }),
    ...(hints.open_world === undefined ? {} : { openWorldHint: hints.open_world }),
  };
};

/** Says whether results of a tool have a schema that a client of this generation takes. */
export const hasOutputSchema = ({ output_schema: schema }: ShownTool, isModern: boolean): boolean =>
  schema !== null && (isModern ? isObject(schema) : isOfObjects(schema));

/** Returns a tool as clients see it. */
export const listed = (tool: ShownTool, isModern: boolean): Tool => {
  const { name, display_name: title, description } = tool;
  const annotations = annotationsOf(tool);
  return {
    name,
    ...(title === undefined ? {} : { title }),
    description,
    inputSchema: forStringify(inputSchemaOf(tool)) as Tool["inputSchema"],
    ...(hasOutputSchema(tool, isModern)
      ? { outputSchema: forStringify(tool.output_schema) as Tool["outputSchema"] }
      : {}),
    ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
  } as Tool;
};

/** Returns the arguments that a tool is called with. */
export const argsOf = (tool: ShownTool, given: Json): Json =>
  isWrapped(tool) && isObject(given) ? (given[inputKey] ?? null) : given;

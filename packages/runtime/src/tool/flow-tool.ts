/** Tools as flows call them: a flow's values are texts, and a schema says what texts stand for. */
import type { FlowTool } from "@pawl/sansio-core/driver";
import type { Json } from "@pawl/tool-value";
import { type ToolDefinition, contractOf, manifestOf } from "./tool.ts";

const member = (json: Json | undefined, name: string): Json | undefined =>
  typeof json === "object" && json !== null && !Array.isArray(json) && Object.hasOwn(json, name)
    ? (json as { readonly [name: string]: Json })[name]
    : undefined;

const scalars: ReadonlyMap<Json | undefined, string> = new Map([
  ["string", "String"],
  ["integer", "Int"],
  ["number", "Float"],
  ["boolean", "Bool"],
]);

const typeOf = (schema: Json): string | undefined => {
  const type = member(schema, "type");
  if (type !== "array") return scalars.get(type);
  const item = scalars.get(member(member(schema, "items"), "type"));
  return item === undefined ? "List" : `List<${item}>`;
};

/** Of an argument whose schema names no single type nothing is said: it stays a text. */
export const flowParametersOf = (schema: Json | undefined): FlowTool["parameters"] =>
  Object.entries(member(schema, "properties") ?? {}).flatMap(([name, property]) => {
    const type = typeOf(property as Json);
    return type === undefined ? [] : [[name, type] as const];
  });

/** A tool for the `tools` of a flow, by its own name. */
export const flowToolOf = (definition: ToolDefinition): FlowTool => {
  const { id, name } = manifestOf(definition);
  return { id, name, parameters: flowParametersOf(contractOf(definition).input_schema) };
};

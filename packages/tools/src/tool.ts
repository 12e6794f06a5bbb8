/** The definition of built-in tools. Their bodies check their arguments themselves. */
import { type Json, type JsonObject, isObject } from "@pawl/tool-value";
import type { FileStore } from "./file/store.ts";
import { type ExecutionResult, type ToolHints } from "@pawl/runtime";

export type ToolPolicy = "auto" | "requires_approval" | "client_side";
export type Deferrable = "never" | "automatic" | "always";

/** The context of a tool. A tool that needs a missing part fails with a message. */
export interface ToolContext {
  readonly session_id: string;
  readonly now?: () => number;
  readonly files?: FileStore;
}

export interface BuiltinTool {
  readonly name: string;
  readonly displayName?: string;
  readonly description: string;
  readonly parameters: JsonObject;
  readonly policy?: ToolPolicy;
  readonly hints?: ToolHints;
  readonly deferrable?: Deferrable;
  readonly requiresContext?: boolean;
  readonly execute: (args: JsonObject, context: ToolContext | undefined) => Promise<ExecutionResult>;
}

/** Returns the schema of an object with these properties and no others. */
export const objectSchema = (properties: JsonObject, required: readonly string[] = []): JsonObject => ({
  type: "object",
  properties,
  ...(required.length === 0 ? {} : { required: [...required] }),
  additionalProperties: false,
});

/** Returns an argument if it is a text. */
export const textOf = (value: Json | undefined): string | undefined => (typeof value === "string" ? value : undefined);
export const isGiven = (text: string | undefined): text is string => text !== undefined && text !== "";
export const numberOf = (value: Json | undefined): number =>
  typeof value === "number" ? value : typeof value === "bigint" ? Number(value) : 0;

/** Returns the arguments of a call as an object, empty if they are none. */
export const argumentsOf = (args: Json): JsonObject => (isObject(args) ? args : {});

/** Returns a tool as models see it, without the fields that have default values. */
export const definitionOf = (tool: BuiltinTool): JsonObject => {
  const { name, displayName, description, parameters, policy = "auto", deferrable = "automatic", hints = {} } = tool;
  return {
    type: "builtin",
    name,
    ...(displayName === undefined ? {} : { display_name: displayName }),
    description,
    parameters,
    policy,
    ...(deferrable === "automatic" ? {} : { deferrable }),
    ...(Object.keys(hints).length === 0 ? {} : { hints: { ...hints } }),
  };
};

/** Returns the policy of a definition. A tool of type `client_side` always has that policy. */
export const policyOf = ({ type, policy }: JsonObject): ToolPolicy => {
  if (type === "client_side") return "client_side";
  return policy === "requires_approval" || policy === "client_side" ? policy : "auto";
};

/** Completes the JSON of a tool's definition with its defaults. */
export const readDefinition = (definition: JsonObject): JsonObject => ({
  ...definition,
  policy: policyOf(definition),
  deferrable: definition["deferrable"] ?? "automatic",
  hints: definition["hints"] ?? {},
});

/** Returns the full schema of a deferred tool, or the schema of any other. */
export const fullParameters = ({ full_parameters: full, parameters }: JsonObject): Json => full ?? parameters ?? null;

/**
 * A definition in its other forms: the manifest and the contract on the wire, the tool of the core, and the tool of a flow.
 */
import * as E from "fp-ts/lib/Either.js";
import { type Tool, plainTool } from "@pawl/sansio-core";
import type { FlowTool } from "@pawl/sansio-core/driver";
import { type Codec, type Json, describe, read } from "@pawl/tool-value";
import {
  admitFields,
  admitName,
  admitNames,
  admitParts,
  admitSchema,
  admittedDefinition,
  approvalOf,
  refused,
  retryPolicyOf,
  type DefineTool,
  type ToolDefinition,
  type ToolDescription,
} from "./definition.ts";
import { jsonSchemaOf, problemOfAnySchema } from "./argument.ts";
import { queueOfTool } from "./limit.ts";
import { ToolContract, ToolManifest } from "./manifest.ts";

/**
 * Defines a tool. Its arguments have the type of its schema, and are checked before each run. Throws `invalid_tool` for a
 * definition that could not run.
 */
export const defineTool: DefineTool = (given: unknown) => {
  const definition = given as ToolDefinition;
  admitFields(admittedDefinition(definition));
  wireManifestOf(definition);
  contractOf(definition);
  return definition as never;
};

const policyOf = (description: ToolDescription): Partial<ToolManifest> => {
  const { when, expiresInMs } = approvalOf(description);
  if (description.clientSide === true && when !== false)
    throw refused(
      `tool \`${description.name}\`: \`clientSide\` and \`needsApproval\` do not go together: leave one out`,
    );
  if (description.clientSide === true) return { policy: "client_side" };
  if (when === false) return {};
  return {
    policy: "requires_approval",
    ...(typeof when === "function" ? { waives_approval: true } : {}),
    ...(expiresInMs === undefined ? {} : { approval_ms: expiresInMs }),
  };
};

const defined = (fields: object): object =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

const hintsOf = (description: ToolDescription): object => {
  const { manifest, readOnly, idempotent } = description;
  const supports_background = "background" in description && description.background !== undefined ? true : undefined;
  return { ...manifest?.hints, ...defined({ readonly: readOnly, idempotent, supports_background }) };
};

const wireFields = (description: ToolDescription): object => {
  const { availability, inputSchema, outputSchema } = description;
  return {
    ...description.manifest,
    ...policyOf(description),
    hints: hintsOf(description),
    ...defined({
      id: description.id ?? `tool:${description.name}`,
      name: description.name,
      description: description.description,
      display_name: description.title,
      durable: description.durable,
      suspend: description.suspend,
      retry_policy: retryPolicyOf(description),
      recovery: description.recovery,
      scheduling: description.concurrency,
      availability: availability === undefined ? undefined : { base: availability },
      activation: description.activation,
      divergence: description.onDivergence,
      on_crash_loop: description.onCrashLoop,
      queue: queueOfTool(description),
      version: description.version,
      input_schema: inputSchema === undefined ? undefined : jsonSchemaOf(inputSchema, "input"),
      output_schema: outputSchema === undefined ? undefined : jsonSchemaOf(outputSchema, "output"),
    }),
  };
};

/** Decodes a part of a description, as if it came over the wire. A message has the names that the author wrote. */
const decoded = <A>(codec: Codec<A>, description: ToolDescription, what: string): A => {
  const fields = read(codec, wireFields(description));
  if (E.isRight(fields)) return fields.right;
  const problem = Object.entries(authored).reduce(
    (text, [wire, own]) => text.replace(`$.${wire}`, own),
    describe(fields.left),
  );
  throw refused(`the ${what} of tool \`${description.name}\` does not fit: ${problem}`);
};
const authored = {
  display_name: "title",
  scheduling: "concurrency",
  divergence: "onDivergence",
  on_crash_loop: "onCrashLoop",
  "hints.readonly": "readOnly",
  "hints.idempotent": "idempotent",
  "availability.base": "availability",
};

/** Returns the manifest of a described tool, as a provider lists it: all of its fields, the defaults filled in. */
export const manifestOf = (given: ToolDescription): ToolManifest => {
  const description = admittedDefinition(given);
  admitName("a tool", description.name);
  admitFields(description);
  return decoded(ToolManifest, description, "manifest");
};

/** Returns the manifest of a tool as it is published. */
export const wireManifestOf = (given: ToolDefinition): ToolManifest => {
  const definition = admittedDefinition(given);
  admitName("a tool", definition.name);
  admitNames(definition);
  admitParts(definition);
  return decoded(ToolManifest, definition, "manifest");
};

/** Returns the schemas of a tool, as models and callers see them. */
export const contractOf = (description: ToolDescription): ToolContract => {
  for (const field of ["inputSchema", "outputSchema"] as const)
    admitSchema(`\`${field}\` of tool \`${description.name}\``, description[field], problemOfAnySchema);
  const contract = decoded(ToolContract, description, "contract");
  admitSchema(`\`input_schema\` of tool \`${description.name}\``, contract.input_schema);
  return contract;
};

/** Makes the core's tool from a manifest. */
export const coreTool = (manifest: ToolManifest, asks: Pick<Tool, "checks" | "prepares">): Tool => {
  const { id, name, scheduling, retry_policy, policy, durable, recovery, divergence, approval_ms, hints } = manifest;
  const { on_crash_loop, waives_approval, queue } = manifest;
  return plainTool(name, {
    id,
    availability: manifest.availability_override ?? manifest.availability.base,
    scheduling,
    retry_policy,
    policy,
    durable,
    hints: { readonly: hints.readonly === true, idempotent: hints.idempotent === true },
    divergence,
    ...(recovery === undefined ? {} : { recovery }),
    ...(on_crash_loop === "fail" ? { on_crash_loop } : {}),
    ...(waives_approval === true ? { waives_approval } : {}),
    ...(queue === undefined ? {} : { queue }),
    ...(approval_ms === undefined ? {} : { approval_ms }),
    ...asks,
  });
};

/** Returns what the core asks a tool for before it runs a call. */
export const asksOf = ({ inputSchema, prepare }: ToolDefinition): Pick<Tool, "checks" | "prepares"> => ({
  checks: inputSchema !== undefined,
  prepares: prepare !== undefined,
});

/** Returns a tool as the core knows it. */
export const coreToolOf = (definition: ToolDefinition): Tool =>
  coreTool(wireManifestOf(definition), asksOf(definition));

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

/** Lists arguments with their flow types. An argument whose schema names no single type is left out: it stays a text. */
export const flowParametersOf = (schema: Json | undefined): FlowTool["parameters"] =>
  Object.entries(member(schema, "properties") ?? {}).flatMap(([name, property]) => {
    const type = typeOf(property as Json);
    return type === undefined ? [] : [[name, type] as const];
  });

/** Makes an entry for the `tools` of a flow, under the tool's own name. */
export const flowToolOf = (definition: ToolDefinition): FlowTool => {
  const { id, name } = coreToolOf(definition);
  return { id, name, parameters: flowParametersOf(contractOf(definition).input_schema) };
};

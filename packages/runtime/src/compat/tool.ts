/** Tools as the reference publishes them: what is shown of a tool, and what its calls have to look like. */
import {
  type Codec,
  type Json,
  boolean,
  codecFrom,
  defaulted,
  json,
  oneOf,
  optional,
  record,
  refuse,
  string,
  tagged,
  u64,
} from "@pawl/tool-value";
import { type Tool, ToolRetryPolicy } from "@pawl/sansio-core";
import { isBlank } from "./blank.ts";
import { type JsonMap, jsonMap, jsonOrNull, list } from "./field.ts";
import { ToolHints } from "./tool-hint.ts";

export type ToolId = string;
export type ToolAvailability = Tool["availability"];
export type ToolScheduling = Tool["scheduling"];

/** Which arguments reach the tool as values, and which as references. */
export type ToolArgumentProjection =
  | { readonly kind: "materialize_projected_values" }
  | { readonly kind: "preserve_projected_refs_in_field"; readonly field: string };

/** Whether the schema of a tool's result is fixed, or given by an argument. */
export type ToolOutputContract =
  | { readonly kind: "static" }
  | { readonly kind: "from_input_schema"; readonly input_field: string; readonly default_schema?: Json };

export interface ToolManifest {
  readonly id: ToolId;
  readonly name: string;
  readonly description: string;
  readonly compact_contract?: Json;
  readonly availability: { readonly base: ToolAvailability };
  readonly activation: "always" | "internal";
  readonly availability_override?: ToolAvailability;
  readonly bindings: JsonMap;
  readonly argument_projection: ToolArgumentProjection;
  readonly scheduling: ToolScheduling;
  readonly retry_policy: Tool["retry_policy"];
  /** What pawl adds: what a lost owner means for a call. */
  readonly recovery?: NonNullable<Tool["recovery"]>;
  readonly durable: boolean;
  readonly hints: ToolHints;
  readonly policy: Tool["policy"];
  readonly divergence: Tool["divergence"];
  /** How long an approval may take; without it a call waits for ever. */
  readonly approval_ms?: number;
  /** Whether a model's tool search may leave its schema out until it is asked for. */
  readonly deferrable: "never" | "automatic" | "always";
  readonly display_name?: string;
  readonly category?: string;
}

export interface ToolContract {
  readonly input_schema: Json;
  readonly output_schema: Json;
  readonly input_schema_projections: Json;
  readonly output_schema_projections: Json;
  readonly output_contract: ToolOutputContract;
  readonly examples: readonly Json[];
}

export type ToolDefinition = ToolManifest & ToolContract;

export const ToolId: Codec<ToolId> = codecFrom<ToolId>(
  "ToolId",
  (u): u is ToolId => string.is(u) && !isBlank(u),
  (u, c) => (string.is(u) && isBlank(u) ? refuse(u, c, "tool id must not be empty") : string.validate(u, c)),
);

const Availability: Codec<ToolAvailability> = oneOf("an availability", "off", "searchable", "callable", "showcased");

export const ToolArgumentProjection: Codec<ToolArgumentProjection> = tagged<ToolArgumentProjection, "kind">(
  "ToolArgumentProjection",
  "kind",
  { materialize_projected_values: {}, preserve_projected_refs_in_field: { field: string } },
);
export const ToolOutputContract: Codec<ToolOutputContract> = tagged<ToolOutputContract, "kind">(
  "ToolOutputContract",
  "kind",
  { static: {}, from_input_schema: { input_field: string, default_schema: optional(json) } },
);

const manifestFields = {
  id: ToolId,
  name: string,
  description: defaulted(string, "", (text) => text === ""),
  compact_contract: optional(json),
  availability: defaulted<ToolManifest["availability"]>(
    record<ToolManifest["availability"]>("struct ToolAvailability", { base: Availability }),
    { base: "showcased" },
    ({ base }) => base === "showcased",
  ),
  activation: defaulted<ToolManifest["activation"]>(
    oneOf("an activation", "always", "internal"),
    "always",
    (activation) => activation === "always",
  ),
  availability_override: optional(Availability),
  bindings: jsonMap,
  argument_projection: defaulted<ToolArgumentProjection>(
    ToolArgumentProjection,
    { kind: "materialize_projected_values" },
    ({ kind }) => kind === "materialize_projected_values",
  ),
  scheduling: defaulted<ToolScheduling>(
    oneOf("a scheduling", "parallel", "serial"),
    "parallel",
    (scheduling) => scheduling === "parallel",
  ),
  retry_policy: defaulted<Tool["retry_policy"]>(ToolRetryPolicy, { type: "never" }, ({ type }) => type === "never"),
  recovery: optional<NonNullable<Tool["recovery"]>>(
    oneOf("a recovery", "rerunnable", "owner_bound", "externally_owned"),
  ),
  durable: defaulted(boolean, false, (is) => !is),
  hints: defaulted<ToolHints>(ToolHints, {}, (hints) => Object.keys(hints).length === 0),
  policy: defaulted<Tool["policy"]>(
    oneOf("a policy", "auto", "requires_approval", "client_side"),
    "auto",
    (policy) => policy === "auto",
  ),
  divergence: defaulted<Tool["divergence"]>(
    oneOf("a divergence policy", "park", "release", "fail"),
    "park",
    (divergence) => divergence === "park",
  ),
  approval_ms: optional(u64),
  deferrable: defaulted<ToolManifest["deferrable"]>(
    oneOf("a deferral", "never", "automatic", "always"),
    "automatic",
    (deferrable) => deferrable === "automatic",
  ),
  display_name: optional(string),
  category: optional(string),
};

/** The schema of a tool that says nothing of its arguments: any object. */
const anyObject: Json = { type: "object", properties: {}, additionalProperties: true };

const isEmpty = (value: Json): boolean =>
  value === null || (typeof value === "object" && Object.keys(value).length === 0);
/** The reference does not say whether projections are a list or a map; none is written as nothing either way. */
const projections = defaulted<Json>(json, [], isEmpty);

const contractFields = {
  input_schema: defaulted<Json>(json, anyObject, () => false),
  output_schema: jsonOrNull,
  input_schema_projections: projections,
  output_schema_projections: projections,
  output_contract: defaulted<ToolOutputContract>(
    ToolOutputContract,
    { kind: "static" },
    ({ kind }) => kind === "static",
  ),
  examples: list(json),
};

export const ToolManifest: Codec<ToolManifest> = record<ToolManifest>("struct ToolManifest", manifestFields);
export const ToolContract: Codec<ToolContract> = record<ToolContract>("struct ToolContract", contractFields);
/** Manifest and contract in one record. */
export const ToolDefinition: Codec<ToolDefinition> = record<ToolDefinition>("struct ToolDefinition", {
  ...manifestFields,
  ...contractFields,
});

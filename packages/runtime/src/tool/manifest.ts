/**
 * The wire format of a tool: its manifest, which describes the tool to models and to the runtime, and its contract, the
 * schemas of its arguments and its result. Fields with their default are left out.
 */
import {
  type Codec,
  type Fields,
  type Json,
  boolean,
  codecFrom,
  defaulted,
  dict,
  json,
  list,
  nullable,
  oneOf,
  optional,
  record,
  refuse,
  string,
  tagged,
  u64,
} from "@pawl/tool-value";
import type { Tool } from "@pawl/sansio-core";
import { ToolRetryPolicy } from "@pawl/sansio-core/driver";

type JsonMap = { readonly [key: string]: Json };
const isEmptyObject = (object: object): boolean => Object.keys(object).length === 0;

const isBlank = (text: string): boolean => text.trim() === "";

/** Facts about a tool, for programs that choose or show tools. The runtime enforces none. An unset hint is unknown, not false. */
export interface ToolHints {
  readonly readonly?: boolean;
  readonly destructive?: boolean;
  readonly idempotent?: boolean;
  readonly open_world?: boolean;
  readonly requires_secrets?: boolean;
  readonly long_running?: boolean;
  readonly supports_background?: boolean;
  readonly cpu_bound?: boolean;
  readonly persist_output?: boolean;
  readonly concurrency_class?: string;
  readonly narration_noun?: string;
  readonly capability_id?: string;
  readonly capability_name?: string;
  readonly side_effect_class?: "Pure" | "Idempotent" | "AtMostOnce";
  readonly metadata?: Json;
}

const hintFields = {
  readonly: optional(boolean),
  destructive: optional(boolean),
  idempotent: optional(boolean),
  open_world: optional(boolean),
  requires_secrets: optional(boolean),
  long_running: optional(boolean),
  supports_background: optional(boolean),
  cpu_bound: optional(boolean),
  persist_output: optional(boolean),
  concurrency_class: optional(string),
  narration_noun: optional(string),
  capability_id: optional(string),
  capability_name: optional(string),
  side_effect_class: optional(oneOf("a side effect class", "Pure", "Idempotent", "AtMostOnce")),
  metadata: optional(json),
};
export const ToolHints: Codec<ToolHints> = record<ToolHints>("struct ToolHints", hintFields);

export type ToolId = string;
type ToolAvailability = Tool["availability"];
type ToolScheduling = Tool["scheduling"];

/** The form of a tool's arguments: values, or references in one field. */
export type ToolArgumentProjection =
  | { readonly kind: "materialize_projected_values" }
  | { readonly kind: "preserve_projected_refs_in_field"; readonly field: string };

/** The source of the result's schema: fixed, or given by an argument. */
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
  /** The consequence of a lost owner for a call; an extension of pawl. */
  readonly recovery?: NonNullable<Tool["recovery"]>;
  readonly durable: boolean;
  /** False keeps its bodies in memory while they wait. */
  readonly suspend: boolean;
  readonly hints: ToolHints;
  readonly policy: Tool["policy"];
  readonly divergence: Tool["divergence"];
  /** The end of a call whose owner is lost again and again; an extension of pawl. */
  readonly on_crash_loop: "park" | "fail";
  /** The version of its code; an extension of pawl. Without one it has that of its host's code. */
  readonly version?: string;
  /** The time limit of an approval. Without one, a call waits for ever. */
  readonly approval_ms?: number;
  /** The preparation of a call may find that it needs no approval; an extension of pawl. */
  readonly waives_approval?: boolean;
  /** The queue in which its calls wait for a place; an extension of pawl. */
  readonly queue?: string;
  /** Permits a model's tool search to leave out the schema until it is requested. */
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

export const manifestFields: Fields<ToolManifest> = {
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
  bindings: defaulted<JsonMap>(dict(json), {}, isEmptyObject),
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
  suspend: defaulted(boolean, true, (is) => is),
  hints: defaulted<ToolHints>(ToolHints, {}, isEmptyObject),
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
  on_crash_loop: defaulted<ToolManifest["on_crash_loop"]>(
    oneOf("what a crash loop leads to", "park", "fail"),
    "park",
    (end) => end === "park",
  ),
  version: optional(string),
  approval_ms: optional(u64),
  waives_approval: optional(boolean),
  queue: optional(string),
  deferrable: defaulted<ToolManifest["deferrable"]>(
    oneOf("a deferral", "never", "automatic", "always"),
    "automatic",
    (deferrable) => deferrable === "automatic",
  ),
  display_name: optional(string),
  category: optional(string),
};

/** The default schema of arguments: any object. */
const anyObject: Json = { type: "object", properties: {}, additionalProperties: true };

const isEmpty = (value: Json): boolean => value === null || (typeof value === "object" && isEmptyObject(value));
/** The reference does not define projections as a list or a map. Either is left out if it is empty. */
const projections = defaulted<Json>(json, [], isEmpty);

export const contractFields: Fields<ToolContract> = {
  input_schema: defaulted<Json>(json, anyObject, () => false),
  output_schema: nullable(json),
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
/** The manifest and the contract in one record. */
export const ToolDefinition: Codec<ToolDefinition> = record<ToolDefinition>("struct ToolDefinition", {
  ...manifestFields,
  ...contractFields,
});

/** The fields that a tool may have, for authors whose program no compiler reads. */
import type { ToolHints } from "./manifest.ts";
import { Refused } from "../error.ts";
import { unknownKeyIn } from "./unknown-key.ts";
import type { ToolDefinition } from "./tool.ts";

const fields: Record<keyof ToolDefinition, 1> = {
  id: 1,
  name: 1,
  description: 1,
  compact_contract: 1,
  availability: 1,
  availability_override: 1,
  activation: 1,
  bindings: 1,
  argument_projection: 1,
  scheduling: 1,
  retry_policy: 1,
  recovery: 1,
  durable: 1,
  hints: 1,
  policy: 1,
  divergence: 1,
  approval_ms: 1,
  deferrable: 1,
  display_name: 1,
  category: 1,
  input_schema: 1,
  output_schema: 1,
  input_schema_projections: 1,
  output_schema_projections: 1,
  output_contract: 1,
  examples: 1,
  parameters: 1,
  prepare: 1,
  execute: 1,
  background: 1,
};

const hints: Record<keyof ToolHints, 1> = {
  readonly: 1,
  destructive: 1,
  idempotent: 1,
  open_world: 1,
  requires_secrets: 1,
  long_running: 1,
  supports_background: 1,
  cpu_bound: 1,
  persist_output: 1,
  concurrency_class: 1,
  narration_noun: 1,
  capability_id: 1,
  capability_name: 1,
  side_effect_class: 1,
  metadata: 1,
};

/** Rejects unknown fields: a misspelt `durable` would silently make the tool non-durable. */
export const admitToolFields = (tool: ToolDefinition): void => {
  const unknownKey = unknownKeyIn("", tool, fields) ?? unknownKeyIn("hints.", tool.hints ?? {}, hints);
  if (unknownKey !== undefined) throw new Refused("invalid_tool", `tool \`${tool.name}\`: ${unknownKey}`);
};

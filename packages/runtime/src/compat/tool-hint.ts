/** What a tool says of itself beside its contract. A hint enforces nothing; one that is unset is not a false one. */
import { type Codec, type Json, boolean, json, oneOf, optional, record, string } from "@pawl/tool-value";

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

export const ToolHints: Codec<ToolHints> = record<ToolHints>("struct ToolHints", {
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
});

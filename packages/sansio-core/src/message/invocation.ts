/** Causes, as the wire says them. Only process events carry one in the core; elsewhere it is an encoding. */
import { type Codec, oneOf, optional, record, string, tagged, u64 } from "@pawl/tool-value";

export type CausalRef =
  | { readonly type: "turn"; readonly session_id: string; readonly turn_id: string }
  | { readonly type: "effect"; readonly session_id: string; readonly turn_id?: string; readonly effect_id: string }
  | { readonly type: "tool_call"; readonly session_id: string; readonly call_id: string }
  | { readonly type: "process"; readonly process_id: string }
  | { readonly type: "process_event"; readonly process_id: string; readonly sequence: number }
  | { readonly type: "trigger_occurrence"; readonly occurrence_id: string }
  | { readonly type: "session_node"; readonly session_id: string; readonly node_id: string };
export const CausalRef: Codec<CausalRef> = tagged<CausalRef, "type">("CausalRef", "type", {
  turn: { session_id: string, turn_id: string },
  effect: { session_id: string, turn_id: optional(string), effect_id: string },
  tool_call: { session_id: string, call_id: string },
  process: { process_id: string },
  process_event: { process_id: string, sequence: u64 },
  trigger_occurrence: { occurrence_id: string },
  session_node: { session_id: string, node_id: string },
});

const effectKinds = [
  "llm_call",
  "direct",
  "tool_call",
  "tool_batch",
  "process",
  "exec_code",
  "checkpoint",
  "sync_execution_environment",
  "sleep",
  "await_event",
  "durable_step",
] as const;
export type RuntimeEffectKind = (typeof effectKinds)[number];
export const RuntimeEffectKind: Codec<RuntimeEffectKind> = oneOf("an effect kind", ...effectKinds);

export interface RuntimeScope {
  readonly session_id: string;
  readonly turn_id?: string;
  readonly turn_index?: number;
  readonly protocol_iteration?: number;
}
export const RuntimeScope: Codec<RuntimeScope> = record<RuntimeScope>("struct RuntimeScope", {
  session_id: string,
  turn_id: optional(string),
  turn_index: optional(u64),
  protocol_iteration: optional(u64),
});

export type RuntimeSubject =
  | { readonly type: "effect"; readonly effect_id: string; readonly kind: RuntimeEffectKind }
  | { readonly type: "process"; readonly process_id: string }
  | {
      readonly type: "process_event";
      readonly process_id: string;
      readonly sequence: number;
      readonly event_type: string;
    }
  | { readonly type: "trigger_occurrence"; readonly occurrence_id: string }
  | { readonly type: "session_node"; readonly node_id: string };
export const RuntimeSubject: Codec<RuntimeSubject> = tagged<RuntimeSubject, "type">("RuntimeSubject", "type", {
  effect: { effect_id: string, kind: RuntimeEffectKind },
  process: { process_id: string },
  process_event: { process_id: string, sequence: u64, event_type: string },
  trigger_occurrence: { occurrence_id: string },
  session_node: { node_id: string },
});

export interface RuntimeReplay {
  readonly key: string;
}
export const RuntimeReplay: Codec<RuntimeReplay> = record<RuntimeReplay>("struct RuntimeReplay", { key: string });

export interface RuntimeInvocation {
  readonly scope: RuntimeScope;
  readonly subject: RuntimeSubject;
  readonly caused_by?: CausalRef;
  readonly replay?: RuntimeReplay;
}
export const RuntimeInvocation: Codec<RuntimeInvocation> = record<RuntimeInvocation>("struct RuntimeInvocation", {
  scope: RuntimeScope,
  subject: RuntimeSubject,
  caused_by: optional(CausalRef),
  replay: optional(RuntimeReplay),
});

/** Attributes a process event to its process. */
export const eventInvocation = (
  processId: string,
  sequence: number,
  eventType: string,
  replay: RuntimeReplay | undefined,
): RuntimeInvocation => ({
  scope: { session_id: "runtime" },
  subject: { type: "process_event", process_id: processId, sequence, event_type: eventType },
  caused_by: { type: "process", process_id: processId },
  ...(replay === undefined ? {} : { replay }),
});

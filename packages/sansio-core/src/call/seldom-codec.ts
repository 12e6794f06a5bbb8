import {
  type Codec,
  PendingCompletion,
  ToolCallOutput,
  array,
  json,
  oneOf,
  optional,
  string,
  tagged,
  text,
  u64,
} from "@pawl/tool-value";
import { ofRun } from "./codec.ts";
import type { Directive, HookOutcome, Preparation, Resolved } from "./model.ts";

const DirectiveCodec: Codec<Directive> = tagged<Directive, "kind">("Directive", "kind", {
  replace_tool_args: { args: json },
  short_circuit_tool: { output: ToolCallOutput },
  abort_turn: { code: string, message: text },
  create_session: { error: optional(text) },
  enqueue_messages: { error: optional(text) },
  emit_runtime_events: {},
  emit_trace: { error: optional(text) },
});

const HookOutcomeCodec: Codec<HookOutcome> = tagged<HookOutcome, "status">("HookOutcome", "status", {
  ok: { directives: array(DirectiveCodec) },
  err: { message: text },
});

const PreparationCodec: Codec<Preparation> = tagged<Preparation, "type">("Preparation", "type", {
  prepared: { tool_id: string, args: json, args_hash: string, payload: json },
  finished: { output: ToolCallOutput },
});

const ResolvedCodec: Codec<Resolved> = tagged<Resolved, "type">("Resolved", "type", {
  run_again: {},
  verified: { output: ToolCallOutput },
  give_up: {},
});

export const seldomResults = { pending: { key: string, pending: PendingCompletion } };

export const seldomCallEvents = {
  "hook.ran": {
    call: string,
    phase: oneOf<"before" | "after">("a hook phase", "before", "after"),
    outcome: HookOutcomeCodec,
  },
  "call.prepared": { call: string, preparation: PreparationCodec },
  "call.settled_late": { ...ofRun, output: ToolCallOutput, duration_ms: u64 },
  "call.suspended": { ...ofRun, parked: optional(string) },
  "call.continued": { ...ofRun, args: json },
  "call.diverged": { ...ofRun, position: u64, expected: string, found: string },
  "call.cleaned_up": ofRun,
  "call.executor_missing": ofRun,
  "executors.available": { tools: array(string) },
  "call.cancelled": { call: string, by: optional(string) },
  "outcome.resolved": { call: string, resolved: ResolvedCodec, by: optional(string) },
  "result.projected": { call: string, parts: json },
} as const;

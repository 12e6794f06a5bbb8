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
import type { ArgsVerdict, BodyResult, Directive, HookOutcome, Preparation, Resolved, ResumeCause } from "./model.ts";

export const ArgsVerdictCodec: Codec<ArgsVerdict> = tagged<ArgsVerdict, "verdict">("ArgsVerdict", "verdict", {
  valid: {},
  invalid: { message: text },
  no_contract: {},
});

export const BodyResultCodec: Codec<BodyResult> = tagged<BodyResult, "type">("BodyResult", "type", {
  done: { output: ToolCallOutput },
  pending: { key: string, pending: PendingCompletion },
});

export const DirectiveCodec: Codec<Directive> = tagged<Directive, "kind">("Directive", "kind", {
  replace_tool_args: { args: json },
  short_circuit_tool: { output: ToolCallOutput },
  abort_turn: { code: string, message: text },
  create_session: { error: optional(text) },
  enqueue_messages: { error: optional(text) },
  emit_runtime_events: {},
  emit_trace: { error: optional(text) },
});

export const HookOutcomeCodec: Codec<HookOutcome> = tagged<HookOutcome, "status">("HookOutcome", "status", {
  ok: { directives: array(DirectiveCodec) },
  err: { message: text },
});

export const PreparationCodec: Codec<Preparation> = tagged<Preparation, "type">("Preparation", "type", {
  prepared: { tool_id: string, args: json, args_hash: string, payload: json },
  finished: { output: ToolCallOutput },
});

export const ResolvedCodec: Codec<Resolved> = tagged<Resolved, "type">("Resolved", "type", {
  run_again: {},
  verified: { output: ToolCallOutput },
  give_up: {},
});

export const ResumeCauseCodec: Codec<ResumeCause> = oneOf(
  "a resume cause",
  "owner_lost",
  "suspended",
  "continued",
  "executor_back",
  "run_again",
  "cancelled",
);

export const ofRun = { call: string, attempt: u64, run: u64 };

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

const ArgsVerdictCodec: Codec<ArgsVerdict> = tagged<ArgsVerdict, "verdict">("ArgsVerdict", "verdict", {
  valid: {},
  invalid: { message: text },
  no_contract: {},
});

const BodyResultCodec: Codec<BodyResult> = tagged<BodyResult, "type">("BodyResult", "type", {
  done: { output: ToolCallOutput },
  pending: { key: string, pending: PendingCompletion },
});

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

export const callEvents = {
  "args.checked": { call: string, args_hash: optional(string), verdict: ArgsVerdictCodec },
  "call.dispatched": { ...ofRun, owner: string, key: optional(string) },
  "call.settled": { ...ofRun, result: BodyResultCodec, duration_ms: u64 },
  "call.resumed": { ...ofRun, cause: ResumeCauseCodec, owner: string },
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

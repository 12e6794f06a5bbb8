import {
  type Codec,
  PendingCompletion,
  ToolCallOutput,
  array,
  boolean,
  dict,
  json,
  oneOf,
  named,
  optional,
  record,
  string,
  tagged,
  text,
  u64,
} from "@pawl/tool-value";
import type { Decision } from "./approval.ts";
import {
  type ChildCall,
  type EffectKind,
  type EffectResult,
  type EffectSpec,
  type SelectMode,
  type StepError,
  type StepRecovery,
  effectKinds,
} from "./effect/effect.ts";
import type {
  ArgsVerdict,
  BodyResult,
  RequestDifference,
  Directive,
  HookOutcome,
  NamedRequest,
  Preparation,
  Resolved,
} from "./vocabulary.ts";
import type { Patches, ResumeCause, UnknownCause } from "./model.ts";
import type { SignalPlace } from "./life.ts";
import type { StreamSpec } from "./effect/stream.ts";
import { SessionScope } from "../identity/scope.ts";
import { AskingCodec } from "../message/message.ts";

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
  prepared: {
    tool_id: string,
    args: json,
    args_hash: string,
    payload: json,
    approval: optional(oneOf<"waived">("the word of a tool on an approval", "waived")),
  },
  finished: { output: ToolCallOutput },
});

export const ResolvedCodec: Codec<Resolved> = tagged<Resolved, "type">("Resolved", "type", {
  run_again: {},
  release: {},
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
  "other_version",
);

export const UnknownCauseCodec: Codec<UnknownCause> = oneOf("a cause", "owner_lost", "crash_loop", "diverged");

/** The cause of a background run that is not begun again. */
export const NotBegunCodec: Codec<"owner_lost"> = oneOf("the cause of a run that is not begun again", "owner_lost");
const NamedRequestCodec: Codec<NamedRequest> = record<NamedRequest>("struct NamedRequest", {
  key: string,
  kind: oneOf<EffectKind>("an effect kind", ...effectKinds),
  hash: string,
});

type DifferentField = NonNullable<RequestDifference["fields"]>[number];
const DifferentFieldCodec: Codec<DifferentField> = record<DifferentField>("struct DifferentField", {
  path: text,
  expected: optional(text),
  found: optional(text),
});

export const DifferenceCodec: Codec<RequestDifference> = record<RequestDifference>("struct RequestDifference", {
  expected: optional(NamedRequestCodec),
  found: optional(NamedRequestCodec),
  fields: optional(array(DifferentFieldCodec)),
  actedOn: named("acted_on", optional(string)),
});

/** Reads and writes answers of `ctx.patched`, by name. */
export const PatchesCodec: Codec<Patches> = dict(boolean);

export const ofRun = { call: string, attempt: u64, run: u64 };

export const DecisionCodec: Codec<Decision> = tagged<Decision, "type">("Decision", "type", {
  approve: {},
  approve_edited: { args: json, args_hash: optional(string) },
  reject: { reason: text },
});

export const ChildCallCodec: Codec<ChildCall> = record<ChildCall>("struct ChildCall", {
  id: string,
  tool: string,
  args: json,
});

export const SignalCodec: Codec<SignalPlace> = record<SignalPlace>("struct SignalPlace", {
  name: string,
  ordinal: u64,
});

export const SelectModeCodec: Codec<SelectMode> = oneOf("a select mode", "race", "any", "all", "all_settled");

export const askedApproval = { title: text, args: json, args_hash: string, schema: optional(json) } as const;

/** Reads and writes what a body asks for. */
export const EffectSpecCodec: Codec<EffectSpec> = tagged<EffectSpec, "kind">("EffectSpec", "kind", {
  step: {
    recovery: oneOf<StepRecovery>("a step recovery", "again", "idempotent", "once"),
    input: json,
    stream: optional(record<StreamSpec>("struct StreamSpec", { name: string, resumes: optional(boolean) })),
  },
  sleep: { ms: u64 },
  cleanup: { deadline_ms: u64 },
  wait: {
    wait: string,
    deadline_ms: optional(u64),
    signal: optional(SignalCodec),
    own: optional(oneOf<"life" | "call">("whose own it is", "life", "call")),
  },
  host: { name: string, input: json },
  trigger: { input: json },
  batch: { calls: array(ChildCallCodec) },
  message: {
    to: string,
    message: AskingCodec,
    holder: optional(SessionScope),
  },
  event: {
    event_type: string,
    payload: json,
    replay_key: string,
    payload_hash: string,
    invalid: optional(string),
    wake_target_scope: optional(SessionScope),
  },
  select: { mode: SelectModeCodec, keys: array(string) },
  approval: { ...askedApproval, deadline_ms: optional(u64) },
});

export const StepErrorCodec: Codec<StepError> = record<StepError>("struct StepError", {
  code: string,
  message: text,
  thrown: optional(json),
});

export const EffectResultCodec: Codec<EffectResult> = tagged<EffectResult, "status">("EffectResult", "status", {
  ok: { value: json },
  err: { error: StepErrorCodec },
});

export const ofSettledCall = {
  ...ofRun,
  result: BodyResultCodec,
  duration_ms: u64,
  left: optional(array(string)),
  cause: optional(NotBegunCodec),
  patched: optional(PatchesCodec),
};
export const ofSettledStep = { ...ofRun, key: string, result: EffectResultCodec, try: optional(u64) };
export const ofStream = { call: string, stream: string, attempt: u64, from: u64, after: optional(u64) };
export const ofFailedTry = { ...ofRun, key: string, try: u64, error: StepErrorCodec, retry_in_ms: u64 };

import { type Codec, array, json, oneOf, optional, record, string, tagged, text, u64 } from "@pawl/tool-value";
import { ofRun } from "./codec.ts";
import { SessionScope } from "../identity/session-scope.ts";
import { AskingCodec } from "../message/codec.ts";
import { ReplyCodec } from "../request/codec.ts";
import type { ChildCall, EffectResult, EffectSpec, SelectMode, StepError, StepRecovery } from "./effect-model.ts";

const ChildCallCodec: Codec<ChildCall> = record<ChildCall>("struct ChildCall", {
  id: string,
  tool: string,
  args: json,
});

const SignalCodec = record<{ readonly name: string; readonly ordinal: number }>("struct SignalPlace", {
  name: string,
  ordinal: u64,
});

export const SelectModeCodec: Codec<SelectMode> = oneOf("a select mode", "race", "any", "all", "all_settled");

export const EffectSpecCodec: Codec<EffectSpec> = tagged<EffectSpec, "kind">("EffectSpec", "kind", {
  step: { recovery: oneOf<StepRecovery>("a step recovery", "again", "idempotent", "once"), input: json },
  sleep: { ms: u64 },
  cleanup: { deadline_ms: u64 },
  wait: { wait: string, deadline_ms: optional(u64), signal: optional(SignalCodec) },
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
});

const StepErrorCodec: Codec<StepError> = record<StepError>("struct StepError", { code: string, message: text });

export const EffectResultCodec: Codec<EffectResult> = tagged<EffectResult, "status">("EffectResult", "status", {
  ok: { value: json },
  err: { error: StepErrorCodec },
});

export const effectEvents = {
  "effect.requested": {
    ...ofRun,
    key: string,
    hash: string,
    effect: EffectSpecCodec,
    refused: optional(StepErrorCodec),
  },
  "step.settled": { ...ofRun, key: string, result: EffectResultCodec },
  "host.answered": { call: string, key: string, result: EffectResultCodec },
  "replies.recorded": { call: string, key: string, replies: array(ReplyCodec), triggers: array(json) },
  "effect.reused": { call: string, attempt: u64, key: string },
} as const;

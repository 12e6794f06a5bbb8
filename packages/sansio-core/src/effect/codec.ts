import { type Codec, json, oneOf, optional, record, string, tagged, text } from "@pawl/tool-value";
import { ofRun } from "../call/codec.ts";
import { codecs } from "../part/needed.ts";
import type { EffectResult, EffectSpec, StepError, StepRecovery } from "./model.ts";

export const EffectSpecCodec: Codec<EffectSpec> = tagged<EffectSpec, "kind", "step">(
  "EffectSpec",
  "kind",
  { step: { recovery: oneOf<StepRecovery>("a step recovery", "again", "idempotent", "once"), input: json } },
  () => codecs.code.seldomEffects,
);

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
} as const;

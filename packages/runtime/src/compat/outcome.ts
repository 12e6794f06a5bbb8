/** What came of an effect, one kind of outcome for each kind of command. */
import { type Codec, type Json, Resolution, array, boolean, external, json, tagged } from "@pawl/tool-value";
import type { RuntimeEffectKind } from "@pawl/sansio-core";
import * as E from "fp-ts/lib/Either.js";
import { list } from "./field.ts";
import { ToolCallLaunch } from "./launch.ts";
import { ProcessOutcome } from "./process-effect.ts";
import type { RuntimeError } from "./runtime-error.ts";

/** Success or error of work that pawl does not look into. */
export type EffectResult = { readonly Ok: Json } | { readonly Err: Json };
export const EffectResult: Codec<EffectResult> = external<EffectResult>("Result", [], { Ok: json, Err: json });

export type RuntimeEffectOutcome =
  | { readonly type: "llm_call"; readonly result: EffectResult; readonly text_streamed: boolean }
  | { readonly type: "direct"; readonly result: EffectResult }
  | { readonly type: "tool_call"; readonly launch: ToolCallLaunch; readonly triggers: readonly Json[] }
  | { readonly type: "tool_batch"; readonly launches: readonly ToolCallLaunch[]; readonly triggers: readonly Json[] }
  | { readonly type: "process"; readonly result: ProcessOutcome }
  | { readonly type: "exec_code"; readonly result: EffectResult }
  | { readonly type: "checkpoint"; readonly result: EffectResult }
  | { readonly type: "sync_execution_environment"; readonly result: EffectResult }
  | { readonly type: "sleep" }
  | { readonly type: "await_event"; readonly resolution: Resolution }
  | { readonly type: "durable_step"; readonly value: Json };
export const RuntimeEffectOutcome: Codec<RuntimeEffectOutcome> = tagged<RuntimeEffectOutcome, "type">(
  "RuntimeEffectOutcome",
  "type",
  {
    llm_call: { result: EffectResult, text_streamed: boolean },
    direct: { result: EffectResult },
    tool_call: { launch: ToolCallLaunch, triggers: list(json) },
    tool_batch: { launches: array(ToolCallLaunch), triggers: list(json) },
    process: { result: ProcessOutcome },
    exec_code: { result: EffectResult },
    checkpoint: { result: EffectResult },
    sync_execution_environment: { result: EffectResult },
    sleep: {},
    await_event: { resolution: Resolution },
    durable_step: { value: json },
  },
);

export type OutcomeOf<K extends RuntimeEffectKind> = Extract<RuntimeEffectOutcome, { readonly type: K }>;

export interface WrongOutcome extends RuntimeError {
  readonly code: "runtime_effect_wrong_outcome";
}

const isOf = <K extends RuntimeEffectKind>(kind: K, outcome: RuntimeEffectOutcome): outcome is OutcomeOf<K> =>
  outcome.type === kind;

/** An outcome of the kind that was asked for; a performer may have answered something else. */
export const expectOutcome = <K extends RuntimeEffectKind>(
  kind: K,
  outcome: RuntimeEffectOutcome,
): E.Either<WrongOutcome, OutcomeOf<K>> => {
  if (isOf(kind, outcome)) return E.right(outcome);
  const message = `expected ${kind} outcome, got ${outcome.type}`;
  return E.left({ code: "runtime_effect_wrong_outcome", message });
};

/**
 * The outcome of an effect: one kind of outcome for each kind of command, or an error. Errors have a stable code and a
 * text for people; unknown codes are passed on.
 */
import {
  type Codec,
  type Json,
  Resolution,
  array,
  boolean,
  external,
  json,
  list,
  record,
  string,
  tagged,
} from "@pawl/tool-value";
import type { RuntimeEffectKind } from "@pawl/sansio-core/driver";
import * as E from "fp-ts/lib/Either.js";
import { ToolCallLaunch } from "./launch.ts";
import { ProcessOutcome } from "./process-effect.ts";

export interface RuntimeError {
  readonly code: string;
  readonly message: string;
}
export const RuntimeError: Codec<RuntimeError> = record<RuntimeError>("struct RuntimeError", {
  code: string,
  message: string,
});

/** The error of an effect without an outcome: a runtime error under another name. */
export type RuntimeEffectControllerError = RuntimeError;
export const RuntimeEffectControllerError: Codec<RuntimeEffectControllerError> = RuntimeError;

/** Formats an error in one line, for messages. */
export const errorLine = ({ code, message }: RuntimeError): string => `${code}: ${message}`;

/** The success or error of work that is opaque to pawl. */
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

/** Checks the kind of an outcome, since a performer may have answered something else. */
export const expectOutcome = <K extends RuntimeEffectKind>(
  kind: K,
  outcome: RuntimeEffectOutcome,
): E.Either<WrongOutcome, OutcomeOf<K>> => {
  if (isOf(kind, outcome)) return E.right(outcome);
  const message = `expected ${kind} outcome, got ${outcome.type}`;
  return E.left({ code: "runtime_effect_wrong_outcome", message });
};

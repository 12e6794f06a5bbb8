/** The commands that the reference gives to the performer of effects. All kinds are read; pawl performs those of tools. */
import { type Codec, type Json, boolean, json, oneOf, string, tagged, u64 } from "@pawl/tool-value";
import { AwaitEventKey, PreparedToolBatch, PreparedToolCall, type RuntimeEffectKind } from "@pawl/sansio-core/driver";
import { LlmRequest } from "@pawl/runtime/driver";
import * as E from "fp-ts/lib/Either.js";
import { ProcessCommand } from "./process-effect.ts";
import type { RuntimeError } from "./outcome.ts";

export type RuntimeEffectCommand =
  | { readonly type: "llm_call"; readonly request: LlmRequest }
  | { readonly type: "direct"; readonly request: LlmRequest; readonly usage_source: string }
  | { readonly type: "tool_call"; readonly call: PreparedToolCall }
  | { readonly type: "tool_batch"; readonly batch: PreparedToolBatch }
  | { readonly type: "process"; readonly command: ProcessCommand }
  | { readonly type: "exec_code"; readonly language: string; readonly code: string }
  | { readonly type: "checkpoint"; readonly checkpoint: "after_work" | "before_completion" }
  | { readonly type: "sync_execution_environment"; readonly update_machine_config: boolean }
  | { readonly type: "sleep"; readonly duration_ms: number }
  | { readonly type: "await_event"; readonly key: AwaitEventKey }
  | { readonly type: "durable_step"; readonly step_id: string; readonly input: Json };
export const RuntimeEffectCommand: Codec<RuntimeEffectCommand> = tagged<RuntimeEffectCommand, "type">(
  "RuntimeEffectCommand",
  "type",
  {
    llm_call: { request: LlmRequest },
    direct: { request: LlmRequest, usage_source: string },
    tool_call: { call: PreparedToolCall },
    tool_batch: { batch: PreparedToolBatch },
    process: { command: ProcessCommand },
    exec_code: { language: string, code: string },
    checkpoint: { checkpoint: oneOf("a checkpoint", "after_work", "before_completion") },
    sync_execution_environment: { update_machine_config: boolean },
    sleep: { duration_ms: u64 },
    await_event: { key: AwaitEventKey },
    durable_step: { step_id: string, input: json },
  },
);

const performed = {
  direct: true,
  tool_call: true,
  tool_batch: true,
  process: true,
  sleep: true,
  await_event: true,
  durable_step: true,
} as const satisfies { readonly [K in RuntimeEffectKind]?: true };

/** The commands that pawl performs. The others belong to the owner of the model loop. */
export type PerformedCommand = Extract<RuntimeEffectCommand, { readonly type: keyof typeof performed }>;

export interface NotPerformed extends RuntimeError {
  readonly code: "runtime_effect_local_executor_unavailable";
  readonly kind: RuntimeEffectKind;
}

const isPerformed = (command: RuntimeEffectCommand): command is PerformedCommand =>
  Object.hasOwn(performed, command.type);

/** Returns a command that pawl performs, or a refusal that names the kind of command. */
export const checkPerformed = (command: RuntimeEffectCommand): E.Either<NotPerformed, PerformedCommand> => {
  if (isPerformed(command)) return E.right(command);
  const { type: kind } = command;
  const message = `no local executor is available for ${kind}`;
  return E.left({ code: "runtime_effect_local_executor_unavailable", message, kind });
};

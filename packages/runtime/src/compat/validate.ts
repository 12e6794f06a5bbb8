/** Whether an envelope can be performed and remembered. The first thing that is wrong is told. */
import type { PreparedToolBatch, RuntimeInvocation } from "@pawl/sansio-core";
import * as E from "fp-ts/lib/Either.js";
import { isBlank } from "./blank.ts";
import type { RuntimeEffectCommand } from "./command.ts";
import type { RuntimeEffectEnvelope } from "./envelope.ts";
import { type RuntimeError, errorLine } from "./runtime-error.ts";

export type EnvelopeErrorCode =
  | "runtime_effect_invocation_subject"
  | "runtime_effect_invocation_kind"
  | "runtime_effect_replay_required"
  | "runtime_effect_durable_step_id"
  | "runtime_effect_tool_batch_id"
  | "runtime_effect_tool_batch_empty"
  | "runtime_effect_tool_batch_child_call_id"
  | "runtime_effect_tool_batch_child_replay";

export interface EnvelopeError extends RuntimeError {
  readonly code: EnvelopeErrorCode;
}

type Misfit = EnvelopeError | undefined;

const misfit = (code: EnvelopeErrorCode, message: string): EnvelopeError => ({ code, message });

const subjectMisfit = ({ subject }: RuntimeInvocation, { type }: RuntimeEffectCommand): Misfit => {
  const [code, head] = ["runtime_effect_invocation_subject", "runtime effect envelope"] as const;
  if (subject.type !== "effect") return misfit(code, `${head} subject must be an effect`);
  if (isBlank(subject.effect_id)) return misfit(code, `${head} effect id must be non-empty`);
  if (subject.kind === type) return undefined;
  const message = `runtime effect invocation kind ${subject.kind} does not match command kind ${type}`;
  return misfit("runtime_effect_invocation_kind", message);
};

/** A key is taken as it is: one of blanks is a key. */
const replayMisfit = ({ replay }: RuntimeInvocation): Misfit =>
  replay === undefined || replay.key === ""
    ? misfit("runtime_effect_replay_required", "runtime effect envelope requires replay.key")
    : undefined;

const childMisfit = ({ calls }: PreparedToolBatch): Misfit => {
  for (const [index, { call, replay_suffix }] of calls.entries()) {
    const head = `runtime effect tool batch child ${index}`;
    if (isBlank(call.call_id)) {
      return misfit("runtime_effect_tool_batch_child_call_id", `${head} has an empty call id`);
    }
    if (isBlank(replay_suffix)) {
      return misfit("runtime_effect_tool_batch_child_replay", `${head} has an empty replay suffix`);
    }
  }
  return undefined;
};

const batchMisfit = (batch: PreparedToolBatch): Misfit => {
  const head = "runtime effect tool batch";
  if (isBlank(batch.batch_id)) return misfit("runtime_effect_tool_batch_id", `${head} id must be non-empty`);
  return batch.calls.length === 0
    ? misfit("runtime_effect_tool_batch_empty", `${head} must contain at least one prepared call`)
    : childMisfit(batch);
};

const commandMisfit = (command: RuntimeEffectCommand): Misfit => {
  if (command.type === "tool_batch") return batchMisfit(command.batch);
  return command.type === "durable_step" && isBlank(command.step_id)
    ? misfit("runtime_effect_durable_step_id", "runtime effect durable step id must be non-empty")
    : undefined;
};

/** An envelope as it is, or what is wrong with it. */
export const validateEnvelope = (envelope: RuntimeEffectEnvelope): E.Either<EnvelopeError, RuntimeEffectEnvelope> => {
  const { invocation, command } = envelope;
  const wrong = subjectMisfit(invocation, command) ?? replayMisfit(invocation) ?? commandMisfit(command);
  return wrong === undefined ? E.right(envelope) : E.left(wrong);
};

/** An envelope for those who know that it is right: throws a TypeError where it is not. */
export const effectEnvelope = (invocation: RuntimeInvocation, command: RuntimeEffectCommand): RuntimeEffectEnvelope => {
  const valid = validateEnvelope({ invocation, command });
  if (E.isLeft(valid)) throw new TypeError(errorLine(valid.left));
  return valid.right;
};

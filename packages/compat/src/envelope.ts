/**
 * The envelope in which the reference hands an effect to its performer: the invocation (the origin of the effect, and the
 * key under which its outcome is remembered) and the command. It is an encoding for hosts; the core's events have another
 * shape.
 */
import { type Codec, type Json, record, stableHash } from "@pawl/tool-value";
import { type PreparedToolBatch, RuntimeInvocation } from "@pawl/sansio-core/driver";
import * as E from "fp-ts/lib/Either.js";
import { RuntimeEffectCommand } from "./command.ts";
import { type RuntimeError, errorLine } from "./outcome.ts";

export interface RuntimeEffectEnvelope {
  readonly invocation: RuntimeInvocation;
  readonly command: RuntimeEffectCommand;
}
export const RuntimeEffectEnvelope: Codec<RuntimeEffectEnvelope> = record<RuntimeEffectEnvelope>(
  "struct RuntimeEffectEnvelope",
  { invocation: RuntimeInvocation, command: RuntimeEffectCommand },
);

/** Returns the hash by which two effects under one replay key are told apart. */
export const envelopeHash = (envelope: RuntimeEffectEnvelope): string =>
  stableHash(RuntimeEffectEnvelope.encode(envelope) as Json);

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

const isBlank = (text: string): boolean => text.trim() === "";

type Problem = EnvelopeError | undefined;

const problem = (code: EnvelopeErrorCode, message: string): EnvelopeError => ({ code, message });

const subjectProblem = ({ subject }: RuntimeInvocation, { type }: RuntimeEffectCommand): Problem => {
  const [code, head] = ["runtime_effect_invocation_subject", "runtime effect envelope"] as const;
  if (subject.type !== "effect") return problem(code, `${head} subject must be an effect`);
  if (isBlank(subject.effect_id)) return problem(code, `${head} effect id must be non-empty`);
  if (subject.kind === type) return undefined;
  const message = `runtime effect invocation kind ${subject.kind} does not match command kind ${type}`;
  return problem("runtime_effect_invocation_kind", message);
};

/** Requires a key. A key of blanks is a key. */
const replayProblem = ({ replay }: RuntimeInvocation): Problem =>
  replay === undefined || replay.key === ""
    ? problem("runtime_effect_replay_required", "runtime effect envelope requires replay.key")
    : undefined;

const childProblem = ({ calls }: PreparedToolBatch): Problem => {
  for (const [index, { call, replay_suffix }] of calls.entries()) {
    const head = `runtime effect tool batch child ${index}`;
    if (isBlank(call.call_id)) {
      return problem("runtime_effect_tool_batch_child_call_id", `${head} has an empty call id`);
    }
    if (isBlank(replay_suffix)) {
      return problem("runtime_effect_tool_batch_child_replay", `${head} has an empty replay suffix`);
    }
  }
  return undefined;
};

const batchProblem = (batch: PreparedToolBatch): Problem => {
  const head = "runtime effect tool batch";
  if (isBlank(batch.batch_id)) return problem("runtime_effect_tool_batch_id", `${head} id must be non-empty`);
  return batch.calls.length === 0
    ? problem("runtime_effect_tool_batch_empty", `${head} must contain at least one prepared call`)
    : childProblem(batch);
};

const commandProblem = (command: RuntimeEffectCommand): Problem => {
  if (command.type === "tool_batch") return batchProblem(command.batch);
  return command.type === "durable_step" && isBlank(command.step_id)
    ? problem("runtime_effect_durable_step_id", "runtime effect durable step id must be non-empty")
    : undefined;
};

/** Returns the envelope if it can be performed and remembered, else the first problem. */
export const validateEnvelope = (envelope: RuntimeEffectEnvelope): E.Either<EnvelopeError, RuntimeEffectEnvelope> => {
  const { invocation, command } = envelope;
  const wrong = subjectProblem(invocation, command) ?? replayProblem(invocation) ?? commandProblem(command);
  return wrong === undefined ? E.right(envelope) : E.left(wrong);
};

/** Builds an envelope. Throws a TypeError if it is invalid. */
export const effectEnvelope = (invocation: RuntimeInvocation, command: RuntimeEffectCommand): RuntimeEffectEnvelope => {
  const valid = validateEnvelope({ invocation, command });
  if (E.isLeft(valid)) throw new TypeError(errorLine(valid.left));
  return valid.right;
};

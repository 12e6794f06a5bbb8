/** Ops on the reference's encoding: envelopes, invocations, and the replies of a failed batch. */
import {
  ExecutionScope,
  type IdentityError,
  RuntimeInvocation,
  checkExecutionScope,
  executionScopeId,
} from "@pawl/sansio-core/driver";
import { withFields } from "@pawl/testkit";
import * as v from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { pipe } from "fp-ts/lib/function.js";
import { fillReplies, launchesOf, pendingAwaitFailure } from "../src/batch-reply.ts";
import { RuntimeEffectCommand } from "../src/command.ts";
import { RuntimeEffectEnvelope, envelopeHash, validateEnvelope } from "../src/envelope.ts";
import {
  type EffectPlace,
  awaitInvocation,
  batchInvocation,
  retrySleepInvocation,
  stepInvocation,
} from "../src/invocation.ts";
import { CompletedToolCall, PendingToolCall, ToolCallLaunch } from "../src/launch.ts";
import { RuntimeEffectControllerError, RuntimeEffectOutcome, RuntimeError } from "../src/outcome.ts";
import { ProcessCommand, ProcessOutcome } from "../src/process-effect.ts";
import { TurnOutcome } from "../src/turn.ts";

type Input = v.JsonObject;

const or = <A>(codec: v.Codec<A>, absent: A): v.Defaulted<A> => v.defaulted(codec, absent, () => false);

/** The place of an effect in a case. Its execution scope is given by id, or as a whole. */
interface CasePlace {
  readonly session_id?: string;
  readonly scope_id: string;
  readonly execution_scope?: ExecutionScope;
  readonly call_id?: string;
  readonly parent?: RuntimeInvocation;
}
const placeFields = {
  session_id: v.optional(v.string),
  scope_id: or(v.string, ""),
  execution_scope: v.optional(ExecutionScope),
  call_id: v.optional(v.string),
  parent: v.optional(RuntimeInvocation),
};

const placeOf = (input: CasePlace): E.Either<IdentityError, EffectPlace> => {
  const { execution_scope: scope, session_id, scope_id, call_id, parent } = input;
  const checked = scope === undefined ? undefined : checkExecutionScope(scope);
  if (checked !== undefined && E.isLeft(checked)) return checked;
  return E.right({
    sessionId: session_id ?? "",
    scopeId: checked === undefined ? scope_id : executionScopeId(checked.right),
    ...(call_id === undefined ? {} : { callId: call_id }),
    ...(parent === undefined ? {} : { parent }),
  });
};

/** Encodes an invocation, with the parts that cases compare. */
const seen = (invocation: RuntimeInvocation): unknown => {
  const { subject, replay } = invocation;
  const effect = subject.type === "effect" ? { effect_id: subject.effect_id, kind: subject.kind } : {};
  return { invocation: RuntimeInvocation.encode(invocation), ...effect, replay_key: replay?.key ?? null };
};

const placeNames = Object.keys(placeFields);

type StepCase = CasePlace & { readonly call_id: string; readonly step_id: string };
const StepCase = v.record<StepCase>("a step", { ...placeFields, call_id: v.string, step_id: v.string });

type AwaitCase = CasePlace & { readonly call_id: string; readonly key_id: string };
const AwaitCase = v.record<AwaitCase>("a wait", { ...placeFields, call_id: v.string, key_id: v.string });

type BatchCase = CasePlace & { readonly batch_id: string; readonly occurrence: number };
const BatchCase = v.record<BatchCase>("a batch", { ...placeFields, batch_id: v.string, occurrence: or(v.u64, 1) });

type SleepCase = CasePlace & { readonly tool_name: string; readonly attempt: number };
const SleepCase = v.record<SleepCase>("a retry's pause", { ...placeFields, tool_name: v.string, attempt: v.u64 });

/** A batch's answer in a case: an error, or an outcome of any kind. */
interface BatchAnswer {
  readonly error?: RuntimeError;
  readonly outcome?: RuntimeEffectOutcome;
  readonly prepared: number;
}
const BatchAnswer = v.record<BatchAnswer>("a batch's answer", {
  error: v.optional(RuntimeError),
  outcome: v.optional(RuntimeEffectOutcome),
  prepared: or(v.u64, 1),
});

interface LaunchCount {
  readonly launches: number;
  readonly prepared: number;
}
const LaunchCount = v.record<LaunchCount>("a count of launches", { launches: v.u64, prepared: v.u64 });

const launched = (index: number): ToolCallLaunch => {
  const output = v.successOutput(null);
  const [call_id, tool_name] = [`c${index}`, "t"];
  const model_return = v.modelReturn(call_id, tool_name, output);
  return {
    status: "done",
    result: { call_id, tool_name, args: {}, output, model_return, duration_ms: 0, replay: null },
  };
};

/** Encodes the launches of a batch, or the reply to every prepared slot if there is not one launch for each. */
const slotsOf = (answer: E.Either<RuntimeError, RuntimeEffectOutcome>, prepared: number): unknown => {
  const launches = launchesOf(answer, prepared);
  if (E.isRight(launches)) return { launches: launches.right.map(ToolCallLaunch.encode) };
  const slots = Array.from({ length: prepared }, () => undefined);
  const replies = fillReplies(
    slots,
    slots.map(() => launches.left),
  );
  const failure = launches.left.output.outcome.payload as v.ToolFailure;
  const told = v.ToolFailure.encode(failure) as object;
  return { ...told, record: launches.left.record ?? null, replies: replies.map(v.ToolInvocationReply.encode) };
};

const batchAnswered = ({ error, outcome: given, prepared }: BatchAnswer): unknown =>
  slotsOf(error === undefined ? E.right(given ?? { type: "sleep" }) : E.left(error), prepared);

const counted = ({ launches, prepared }: LaunchCount): unknown => {
  const batch = { type: "tool_batch", launches: Array.from({ length: launches }, (_, i) => launched(i)) } as const;
  return slotsOf(E.right({ ...batch, triggers: [] }), prepared);
};

const reading = <A>(fields: readonly string[], codec: v.Codec<A>, answer: (input: A) => unknown) =>
  withFields(fields, (input: Input): E.Either<v.ValueError, unknown> => pipe(v.read(codec, input), E.map(answer)));

/** Builds an adapter for an invocation that has fields of its own beside those of its place. */
const invoking = <A extends CasePlace>(
  own: readonly string[],
  codec: v.Codec<A>,
  make: (place: EffectPlace, input: A) => RuntimeInvocation,
) =>
  withFields([...placeNames, ...own], (input: Input): E.Either<v.ValueError | IdentityError, unknown> =>
    pipe(
      v.read(codec, input),
      E.chainW((read) =>
        pipe(
          placeOf(read),
          E.map((place) => seen(make(place, read))),
        ),
      ),
    ),
  );

export const adapters = {
  "step.invocation": invoking(["step_id"], StepCase, (place, { call_id, step_id }) =>
    stepInvocation({ ...place, callId: call_id }, step_id),
  ),
  "await.invocation": invoking(["key_id"], AwaitCase, (place, { call_id, key_id }) =>
    awaitInvocation({ ...place, callId: call_id }, key_id),
  ),
  "batch.invocation": invoking(["batch_id", "occurrence"], BatchCase, (place, { batch_id, occurrence }) =>
    batchInvocation(place, batch_id, occurrence),
  ),
  "retry.sleep_invocation": invoking(["tool_name", "attempt"], SleepCase, (place, { tool_name, attempt }) =>
    retrySleepInvocation(place, tool_name, attempt),
  ),
  "envelope.validate": withFields(["invocation", "command"], (input: Input) =>
    pipe(
      v.read(RuntimeEffectEnvelope, input),
      E.chainW(validateEnvelope),
      E.map((envelope) => ({ ok: true, hash: envelopeHash(envelope) })),
    ),
  ),
  "call_tool_batch.effect_error": reading(["error", "outcome", "prepared"], BatchAnswer, batchAnswered),
  "call_tool_batch.launch_count": reading(["launches", "prepared"], LaunchCount, counted),
  "launch.pending_without_key": withFields([], () => E.right(v.ToolFailure.encode(v.pendingWithoutKey))),
  "pending.await_error": reading(
    ["error"],
    v.record<{ readonly error: RuntimeError }>("a failed wait", { error: RuntimeError }),
    ({ error }) => v.ToolFailure.encode(pendingAwaitFailure(error)),
  ),
};

/** The records that `wire.roundtrip` reads and writes. */
export const wire = {
  CompletedToolCall: CompletedToolCall,
  PendingToolCall: PendingToolCall,
  ProcessCommand: ProcessCommand,
  ProcessEffectCommand: ProcessCommand,
  ProcessEffectOutcome: ProcessOutcome,
  ProcessOutcome: ProcessOutcome,
  RuntimeEffectCommand: RuntimeEffectCommand,
  RuntimeEffectControllerError,
  RuntimeEffectEnvelope,
  RuntimeEffectOutcome: RuntimeEffectOutcome,
  RuntimeError,
  ToolCallLaunch: ToolCallLaunch,
  TurnOutcome,
};

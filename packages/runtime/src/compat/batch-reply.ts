/** What the caller of a batch is told, call by call. */
import {
  type ToolCallRecord,
  type ToolFailure,
  type ToolInvocationReply,
  failureOutput,
  replyError,
  runtimeFailure,
} from "@pawl/tool-value";
import { type BatchCall, Invariant } from "@pawl/sansio-core";
import * as E from "fp-ts/lib/Either.js";
import type { CompletedToolCall, ToolCallLaunch } from "./launch.ts";
import { type RuntimeEffectOutcome, expectOutcome } from "./outcome.ts";
import { type RuntimeError, errorLine } from "./runtime-error.ts";

/** Nothing is known of any prepared call of a batch whose effect failed. */
export const batchFailedReply = (error: RuntimeError): ToolInvocationReply =>
  replyError(`tool batch failed: ${errorLine(error)}`);

/** Which launch would belong to which call is not known: so none is taken. */
export const launchCountReply = (launches: number, prepared: number): ToolInvocationReply =>
  replyError(`tool batch returned ${launches} launches for ${prepared} prepared calls`);

/** One launch for each prepared call, or what all of them are told instead. */
export const launchesOf = (
  answer: E.Either<RuntimeError, RuntimeEffectOutcome>,
  prepared: number,
): E.Either<ToolInvocationReply, readonly ToolCallLaunch[]> => {
  const outcome = E.isLeft(answer) ? answer : expectOutcome("tool_batch", answer.right);
  if (E.isLeft(outcome)) return E.left(batchFailedReply(outcome.left));
  const { launches } = outcome.right;
  return launches.length === prepared ? E.right(launches) : E.left(launchCountReply(launches.length, prepared));
};

/** Replies at the places of their calls: those that are there already stay; the others, one for each, fill the rest. */
export const fillReplies = (
  slots: readonly (ToolInvocationReply | undefined)[],
  replies: readonly ToolInvocationReply[],
): readonly ToolInvocationReply[] => {
  const rest = replies.values();
  return slots.map((slot) => {
    const reply = slot ?? rest.next().value;
    if (reply === undefined) throw new Invariant("a call of the batch has no reply");
    return reply;
  });
};

/** A call whose tool is not there: it is over at once, and on record under the id that was asked for. */
export const unavailableReply = ({ id, tool_id, args }: BatchCall): ToolInvocationReply => {
  const message = `Tool id \`${tool_id}\` is unavailable in this session`;
  const output = failureOutput(runtimeFailure("unavailable", "tool_unavailable", message));
  return { output, record: { call_id: id, tool: tool_id, args, output, duration_ms: 0 } };
};

const recordOf = ({ call_id, tool_name, args, output, duration_ms }: CompletedToolCall): ToolCallRecord => ({
  call_id,
  tool: tool_name,
  args,
  output,
  duration_ms,
});

/** The reply of a call that is over. */
export const completedReply = (result: CompletedToolCall): ToolInvocationReply => ({
  output: result.output,
  record: recordOf(result),
});

/** A body that says it completes from outside, and has not asked for the key under which it would. */
export const pendingWithoutKey: ToolFailure = runtimeFailure(
  "internal",
  "pending_tool_missing_completion_key",
  "tool returned Pending without first obtaining a completion key",
);

/** A pending call whose wait could not be made; its hooks do not hear of it. */
export const pendingAwaitFailure = (error: RuntimeError): ToolFailure =>
  runtimeFailure("internal", "pending_tool_completion_failed", errorLine(error));

/** The replies of a batch to its caller, call by call. */
import {
  type ToolCallRecord,
  type ToolFailure,
  type ToolInvocationReply,
  failureOutput,
  replyError,
  runtimeFailure,
} from "@pawl/tool-value";
import { Invariant } from "@pawl/sansio-core";
import type { BatchCall } from "@pawl/sansio-core/driver";
import * as E from "fp-ts/lib/Either.js";
import type { CompletedToolCall, ToolCallLaunch } from "./launch.ts";
import { type RuntimeEffectOutcome, type RuntimeError, errorLine, expectOutcome } from "./outcome.ts";

/** Replies to every prepared call of a batch whose effect failed, since the fate of each is unknown. */
export const batchFailedReply = (error: RuntimeError): ToolInvocationReply =>
  replyError(`tool batch failed: ${errorLine(error)}`);

/** Replies to every prepared call if the number of launches is wrong: none can be assigned to a call. */
export const launchCountReply = (launches: number, prepared: number): ToolInvocationReply =>
  replyError(`tool batch returned ${launches} launches for ${prepared} prepared calls`);

/** Returns one launch for each prepared call, or the reply that all of them get instead. */
export const launchesOf = (
  answer: E.Either<RuntimeError, RuntimeEffectOutcome>,
  prepared: number,
): E.Either<ToolInvocationReply, readonly ToolCallLaunch[]> => {
  const outcome = E.isLeft(answer) ? answer : expectOutcome("tool_batch", answer.right);
  if (E.isLeft(outcome)) return E.left(batchFailedReply(outcome.left));
  const { launches } = outcome.right;
  return launches.length === prepared ? E.right(launches) : E.left(launchCountReply(launches.length, prepared));
};

/** Fills the empty slots with the replies, in order. */
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

/** Replies to a call whose tool is not available. Its record has the requested tool id as the tool's name. */
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

/** Builds the reply of a completed call. */
export const completedReply = (result: CompletedToolCall): ToolInvocationReply => ({
  output: result.output,
  record: recordOf(result),
});

/** The failure of a pending call whose wait could not be registered. No hook is called for it. */
export const pendingAwaitFailure = (error: RuntimeError): ToolFailure =>
  runtimeFailure("internal", "pending_tool_completion_failed", errorLine(error));

/** What is thrown by who stops because the call was cancelled: no error of its tool's. */
import { type ToolResult, cancelled } from "@pawl/tool-value";
import { EffectError } from "../error.ts";

/** Node's own functions put the signal's reason behind an error of theirs. */
export const withoutAbort = (thrown: unknown): unknown => {
  const isAbort = thrown instanceof Error && thrown.name === "AbortError";
  return isAbort && thrown.cause instanceof EffectError ? thrown.cause : thrown;
};

/** What a body came to that threw what its signal says; undefined where it threw anything else. */
export const cancelledBy = (thrown: unknown): ToolResult | undefined => {
  const reason = withoutAbort(thrown);
  const isReason = reason instanceof EffectError && reason.code === "cancelled";
  return isReason ? cancelled("tool call cancelled") : undefined;
};

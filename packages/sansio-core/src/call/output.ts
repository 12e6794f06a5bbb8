/** What calls come to without a word from their tools. */
import {
  type ToolCallOutput,
  cancelledOutput,
  failureOutput,
  runtimeCancellation,
  runtimeFailure,
} from "@pawl/tool-value";

export const cancelledCall: ToolCallOutput = cancelledOutput(runtimeCancellation("tool call cancelled"));

export const internal = (code: string, message: string): ToolCallOutput =>
  failureOutput(runtimeFailure("internal", code, message));

/** A tool that always fails, for the model to read or for the log only. */
import { type ToolDefinition, defineTool, internalError, toolError } from "@pawl/runtime";

export const failingTool = (
  message = "Tool execution failed",
  type: "tool_error" | "internal_error" = "tool_error",
): ToolDefinition =>
  defineTool({
    name: "failing_tool",
    display_name: "Failing Tool",
    description: "Fails, always.",
    parameters: { type: "object", properties: {}, additionalProperties: false },
    hints: { readonly: true, idempotent: true },
    execute: async () => (type === "tool_error" ? toolError(message) : internalError(new Error(message))),
  });

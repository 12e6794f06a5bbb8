/** A tool that always fails, for the model to read or for the log only. */
import { type ToolDefinition, defineTool, internalError, toolError } from "@pawl/runtime";

/** Makes a tool that always fails, with an error for the model or with one for the host's log alone. */
export const failingTool = (
  message = "Tool execution failed",
  type: "tool_error" | "internal_error" = "tool_error",
): ToolDefinition =>
  defineTool({
    name: "failing_tool",
    title: "Failing Tool",
    description: "Fails, always.",
    inputSchema: { type: "object", properties: {}, additionalProperties: false },
    readOnly: true,
    idempotent: true,
    execute: async () => (type === "tool_error" ? toolError(message) : internalError(new Error(message))),
  });

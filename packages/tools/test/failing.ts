/** The failing tool of the testkit as a built-in tool. */
import type { ExecutionResult } from "@pawl/runtime";
import { failingTool } from "@pawl/testkit";
import { type BuiltinTool, argumentsOf } from "@pawl/tools";

export const failing = (...how: Parameters<typeof failingTool>): BuiltinTool => {
  const {
    name,
    display_name: displayName = name,
    description = "",
    hints = {},
    inputSchema,
    execute,
  } = failingTool(...how);
  return {
    name,
    displayName,
    description,
    hints,
    parameters: argumentsOf(inputSchema as never),
    execute: async () => (await execute({}, undefined as never)) as ExecutionResult,
  };
};

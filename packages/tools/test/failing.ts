/** The failing tool of the testkit as a built-in tool. */
import type { ExecutionResult } from "@pawl/runtime";
import { failingTool } from "@pawl/testkit";
import { type BuiltinTool, argumentsOf } from "@pawl/tools";

export const failing = (...how: Parameters<typeof failingTool>): BuiltinTool => {
  const { name, title = name, description = "", readOnly, idempotent, inputSchema, execute } = failingTool(...how);
  return {
    name,
    displayName: title,
    description,
    hints: { readonly: readOnly === true, idempotent: idempotent === true },
    parameters: argumentsOf(inputSchema as never),
    execute: async () => (await execute({}, undefined as never)) as ExecutionResult,
  };
};

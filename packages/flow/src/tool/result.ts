/** The result of a tool's run. A failure is a value, with a text for the reader of the flow. */
import { argumentText } from "@pawl/sansio-core/driver";
import { type Json, type ToolCallOutput, failureOutput, successOutput, toolFailure } from "@pawl/tool-value";
import type { Dispatching, Run } from "./provider.ts";
import type { Registered } from "./registry.ts";

export interface ToolResult {
  readonly success: boolean;
  readonly output: string;
  readonly tool_name: string;
}

/** A result without the tool's name, which the registry adds. */
export type Answer = Omit<ToolResult, "tool_name">;

export const succeeded = (output: string): Answer => ({ success: true, output });
export const failed = (output: string): Answer => ({ success: false, output });
export const messageOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown));

/** Turns an exception of a provider into a failed step: the flow goes on. */
const answerOf = async (name: string, run: Run, argument: string, context: Dispatching): Promise<Answer> => {
  try {
    return await run(argument, context);
  } catch (thrown) {
    return failed(`tool '${name}' dispatch task failed: ${messageOf(thrown)}`);
  }
};

/** Runs a tool with the arguments of its call; always resolves with an output. */
export const outputOf = async (
  { name, parameters }: Registered,
  run: Run,
  args: Json,
  context: Dispatching,
): Promise<ToolCallOutput> => {
  const answer = await answerOf(name, run, argumentText(args, parameters), context);
  const output = answer.output.toWellFormed();
  return answer.success ? successOutput(output) : failureOutput(toolFailure("execution", "flow_tool_failed", output));
};

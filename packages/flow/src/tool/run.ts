/** A registered tool run for a step: whatever its provider does, there is an output. */
import { argumentText } from "@pawl/sansio-core";
import { type Json, type ToolCallOutput, failureOutput, successOutput, toolFailure } from "@pawl/tool-value";
import type { Dispatching, Run } from "./provider.ts";
import type { Registered } from "./registry.ts";
import { type Answer, failed, messageOf } from "./result.ts";

/** A provider that broke is a failure of its step, not of its flow. */
const answered = async (name: string, run: Run, argument: string, context: Dispatching): Promise<Answer> => {
  try {
    return await run(argument, context);
  } catch (thrown) {
    return failed(`tool '${name}' dispatch task failed: ${messageOf(thrown)}`);
  }
};

/** Runs a tool with the arguments of its call. */
export const outputOf = async (
  { name, parameters }: Registered,
  run: Run,
  args: Json,
  context: Dispatching,
): Promise<ToolCallOutput> => {
  const answer = await answered(name, run, argumentText(args, parameters), context);
  const output = answer.output.toWellFormed();
  return answer.success ? successOutput(output) : failureOutput(toolFailure("execution", "flow_tool_failed", output));
};

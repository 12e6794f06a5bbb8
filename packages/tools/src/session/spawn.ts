/** `spawn_background`: starts a background run of a tool, at once or by a schedule. */
import {
  EffectError,
  type ExecutionResult,
  type ToolContext,
  type ToolDefinition,
  defineTool,
  internalError,
  success,
  toolError,
} from "@pawl/runtime";
import { type LiveTool } from "@pawl/runtime/driver";
import * as E from "fp-ts/lib/Either.js";
import { type BuiltinTool, argumentsOf, objectSchema } from "../tool.ts";
import { monitorDescription, scheduledText, startedText } from "../spawn/text.ts";
import {
  type Spawn,
  type SpawnPlace,
  type SpawnSchedule,
  type Target,
  spawnName,
  validateSpawn,
} from "../spawn/validate.ts";
import { described, isSession } from "./builtin.ts";

const spawnTool: Omit<BuiltinTool, "execute"> = {
  name: spawnName,
  displayName: "Spawn Background",
  description:
    "Runs a tool in the background. The call returns at once with the paths of the output and the result. The session is " +
    "signalled when the run has ended. With a schedule nothing runs now: a monitor is created, which fires repeatedly or " +
    "once.",
  parameters: objectSchema(
    {
      tool: { type: "string", description: "The name of the tool; it must support background execution." },
      args: { type: "object", description: "The arguments of that tool." },
      title: { type: "string", description: "The title of the run, for people." },
      schedule: {
        ...objectSchema({
          cron_expression: { type: "string", description: "For a recurring monitor: standard cron with five fields." },
          scheduled_at: { type: "string", description: "For one that fires once: an RFC 3339 instant." },
          timezone: { type: "string", description: "The IANA time zone of the cron expression; UTC by default." },
        }),
        description: "The time of the run; exactly one of cron_expression and scheduled_at.",
      },
      signal_on_completion: {
        type: "boolean",
        default: true,
        description: "Signals the session when the run has ended.",
      },
    },
    ["tool", "args"],
  ),
  requiresContext: true,
};

const targetOf = ({ manifest, background }: LiveTool): Target => {
  const { name, display_name: displayName, hints } = manifest;
  const target = { name, hints, hasExecutor: background !== undefined };
  return displayName === undefined ? target : { ...target, displayName };
};

const placeIn = (ctx: ToolContext, files: boolean): SpawnPlace => {
  const isOfSession = isSession(ctx.scope);
  return {
    tool: (name) => {
      const tool = ctx.background.tool(name);
      return tool && targetOf(tool);
    },
    tasks: isOfSession,
    schedules: isOfSession,
    files,
  };
};

/** Turns the failure to create a task into an internal error: the model does not see the reason. */
const creationFailure = (thrown: unknown): ExecutionResult => {
  if (!(thrown instanceof EffectError)) throw thrown;
  return internalError(new Error(`Failed to create background run task: ${thrown.message}`, { cause: thrown }));
};

const run = async (ctx: ToolContext, spawn: Spawn): Promise<ExecutionResult> => {
  const { target, args, title, signal } = spawn;
  try {
    const spawned = await ctx.background.spawn({ tool: target.name, args, title, signal });
    if (spawned.status === "refused") return toolError(spawned.message);
    return success(startedText(spawn, spawned.run, spawned.task));
  } catch (thrown) {
    return creationFailure(thrown);
  }
};

const schedule = async (ctx: ToolContext, spawn: Spawn, when: SpawnSchedule): Promise<ExecutionResult> => {
  const { target, args, title, signal } = spawn;
  const { cron, at, timezone } = when;
  const answer = await ctx.schedules.create({
    description: monitorDescription(spawn),
    timezone,
    ...(cron === undefined ? {} : { cron_expression: cron }),
    ...(at === undefined ? {} : { scheduled_at: at }),
    monitor: { title, tool: target.name, arguments: args, signal_on_completion: signal },
  });
  if (answer.status === "refused") return toolError(answer.message);
  return success(scheduledText(spawn, answer.schedule, answer.task));
};

/** Defines `spawn_background`; `files` is true if runs can store their artifacts. */
export const spawnBackground = (files: boolean): ToolDefinition =>
  defineTool({
    ...described(spawnTool),
    durable: true,
    execute: async (args, ctx) => {
      const spawn = validateSpawn(argumentsOf(args as never), placeIn(ctx, files));
      if (E.isLeft(spawn)) return toolError(spawn.left);
      const { schedule: when } = spawn.right;
      return when === undefined ? run(ctx, spawn.right) : schedule(ctx, spawn.right, when);
    },
  });

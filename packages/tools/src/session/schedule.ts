/** The tools for schedules, which send the session a text at a time, once or repeatedly. */
import { type Schedule, instantOf } from "@pawl/sansio-core/driver";
import { type ToolDefinition, success, toolError } from "@pawl/runtime";
import type { Json, JsonObject } from "@pawl/tool-value";
import { type BuiltinTool, isGiven, objectSchema, textOf } from "../tool.ts";
import { type SessionBody, instantsOf, sessionTool } from "./builtin.ts";

const times = ["scheduled_at", "next_trigger_at", "last_triggered_at", "created_at", "updated_at"] as const;

/** Writes a schedule with its times as texts. */
export const scheduleJson = (schedule: Schedule): JsonObject => ({ ...schedule, ...instantsOf(schedule, times) });

const scheduleTool = (tool: Omit<BuiltinTool, "execute">, body: SessionBody): ToolDefinition =>
  sessionTool(tool, body, "Schedule store not available in this context");

const trimmed = (value: Json | undefined): string | undefined => {
  const text = textOf(value)?.trim();
  return isGiven(text) ? text : undefined;
};

const create = scheduleTool(
  {
    name: "create_schedule",
    displayName: "Create Schedule",
    description: "Sends the session a text repeatedly (cron_expression) or once (scheduled_at).",
    parameters: objectSchema(
      {
        description: {
          type: "string",
          minLength: 1,
          description: "The text that the session gets when the schedule fires.",
        },
        cron_expression: { type: "string", description: "Five fields, standard cron." },
        scheduled_at: { type: "string", description: "An RFC 3339 instant." },
        timezone: { type: "string", description: "The IANA time zone of the cron expression; UTC by default." },
      },
      ["description"],
    ),
  },
  async (args, ctx) => {
    const description = trimmed(args["description"]);
    if (description === undefined) return toolError("Missing required parameter: description");
    const [cron, at] = [trimmed(args["cron_expression"]), instantOf(trimmed(args["scheduled_at"]) ?? "")];
    if (cron === undefined && at === undefined) {
      return toolError("Must provide either cron_expression (recurring) or scheduled_at (one-shot)");
    }
    const answer = await ctx.schedules.create({
      description,
      timezone: trimmed(args["timezone"]) ?? "UTC",
      ...(cron === undefined ? {} : { cron_expression: cron }),
      ...(at === undefined ? {} : { scheduled_at: at }),
    });
    return answer.status === "refused"
      ? toolError(answer.message)
      : success({ created: true, schedule: scheduleJson(answer.schedule) });
  },
);

const cancel = scheduleTool(
  {
    name: "cancel_schedule",
    displayName: "Cancel Schedule",
    description: "Cancels a schedule, so that it does not fire again.",
    parameters: objectSchema({ schedule_id: { type: "string" } }, ["schedule_id"]),
    hints: { idempotent: true },
  },
  async (args, ctx) => {
    const id = trimmed(args["schedule_id"]);
    if (id === undefined) return toolError("Missing required parameter: schedule_id");
    if (!/^sched_[0-9a-f]{32}$/.test(id)) return toolError(`Invalid schedule_id format: ${id}`);
    if (!(await ctx.schedules.list()).some((schedule) => schedule.id === id)) return toolError("Schedule not found");
    await ctx.schedules.cancel(id);
    return success({ schedule_id: id, canceled: true });
  },
);

const list = scheduleTool(
  {
    name: "list_schedules",
    displayName: "List Schedules",
    description: "Lists the session's schedules, oldest first, including the ones that have ended.",
    parameters: objectSchema({}),
    hints: { readonly: true, idempotent: true },
  },
  async (_, ctx) => {
    const schedules = await ctx.schedules.list();
    return success({ schedules: schedules.map(scheduleJson), count: schedules.length });
  },
);

export const scheduleTools: readonly ToolDefinition[] = [create, cancel, list];

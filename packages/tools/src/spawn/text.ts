/** The texts about a background run: the reply to the model, and the description of a monitor. */
import { type Json, type JsonObject, isObject } from "@pawl/tool-value";
import { type Schedule, instantText, pathsOf, pretty } from "@pawl/sansio-core/driver";
import type { Spawn } from "./validate.ts";

/** Returns the reply for a run that has started. */
export const startedText = (
  { title, target, signal }: Pick<Spawn, "title" | "signal"> & { readonly target: Pick<Spawn["target"], "name"> },
  run: string,
  task: string,
): JsonObject => ({
  run_id: run,
  resource_id: run,
  task_id: task,
  title,
  tool: target.name,
  status: "running",
  signal_on_completion: signal,
  ...pathsOf(run),
});

/** Returns the text that a session gets when a monitor fires. */
export const monitorDescription = ({ title, target, signal, args }: Spawn): string => {
  const payload = { tool: target.name, title, signal_on_completion: signal, args };
  return [
    `Monitor: ${title}`,
    "",
    "This scheduled monitor fired. Start the background run now.",
    "",
    "spawn_background payload:",
    pretty(payload),
  ].join("\n");
};

const instantOrNull = (at: number | undefined): string | null => (at === undefined ? null : instantText(at));

/** Returns the reply for a monitor that was created. */
export const scheduledText = (
  { title, target, signal }: Spawn,
  schedule: Schedule,
  task: string | null,
): JsonObject => ({
  created: true,
  status: "scheduled",
  title,
  tool: target.name,
  signal_on_completion: signal,
  schedule_id: schedule.id,
  schedule_type: schedule.schedule_type,
  cron_expression: schedule.cron_expression ?? null,
  scheduled_at: instantOrNull(schedule.scheduled_at),
  timezone: schedule.timezone,
  next_trigger_at: instantOrNull(schedule.next_trigger_at),
  enabled: schedule.enabled,
  task_id: task,
});

/** Returns the output of a probe as one text: its first content, or the whole value. */
export const probeResultText = (value: Json): string => {
  if (typeof value === "string") return value;
  const content = isObject(value) ? value["content"] : undefined;
  const [first] = Array.isArray(content) ? (content as readonly Json[]) : [];
  const text = first !== undefined && isObject(first) ? first["text"] : undefined;
  return typeof text === "string" ? text : pretty(value);
};

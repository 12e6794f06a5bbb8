/** Schedules, and the monitors that they are of. */
import type { Json, JsonObject } from "@pawl/tool-value";
import {
  type Schedule,
  createSchedule,
  fireText,
  firesTooOften,
  instantOf,
  instantText,
  probeText,
  sessionHasSchedules,
  triggered,
} from "@pawl/sansio-core";
import {
  type SpawnPlace,
  type SpawnSchedule,
  intervalOf,
  monitorDescription,
  nextFire,
  probeResultText,
  scheduledText,
  validateSpawn,
} from "@pawl/tools";
import type { Adapters } from "@pawl/testkit";
import * as E from "fp-ts/lib/Either.js";
import { type Result, checked, failed, maybeText, number, object, text } from "./input.ts";
import { target } from "./spawn.ts";

const now = Date.parse("2026-04-16T15:30:00Z");

/** Where a monitor is asked for: all that a session has, but for what the case takes away. */
const placeOf = (input: JsonObject): SpawnPlace => ({
  tool: (name) => target(name, { supports_background: true, ...object(input["hints"]) }),
  tasks: input["task_registry"] !== null,
  files: input["file_store"] !== null,
  schedules: input["schedule_store"] !== null,
});

const leastGap = 300;

/** When a schedule fires next, unless it may not stand: there are too many, or it fires too often. */
const planned = ({ cron, timezone }: SpawnSchedule, active: Json | undefined): E.Either<string, number | undefined> => {
  if (number(active) >= 5) return E.left(sessionHasSchedules(5));
  if (cron === undefined) return E.right(undefined);
  const gap = intervalOf(cron, now);
  return gap !== undefined && gap < leastGap ? E.left(firesTooOften(leastGap, gap)) : nextFire(cron, timezone, now);
};

const standing = ({ cron, at, timezone }: SpawnSchedule, next: number | undefined): Schedule => {
  const when = {
    ...(cron === undefined ? {} : { cron_expression: cron }),
    ...(at === undefined ? {} : { scheduled_at: at }),
  };
  const made = createSchedule({ id: "sched_1", description: "d", timezone, ...when }, "s", now);
  return next === undefined ? made : { ...made, next_trigger_at: next };
};

/** A schedule that stands, as the model is told of it. */
const scheduled = (input: JsonObject): Result => {
  const { tool = "bg", args = {}, schedule: when = { cron_expression: "0 * * * *" } } = input;
  const asked = validateSpawn({ ...input, tool, args, schedule: when }, placeOf(input));
  if (E.isLeft(asked)) return failed(asked.left);
  const spawn = asked.right;
  const timed = spawn.schedule as SpawnSchedule; // It was given one.
  const next = planned(timed, input["active_schedules"]);
  if (E.isLeft(next)) return failed(next.left);
  const isShown = input["task_registry"] !== null && input["monitor_task_create"] !== "fails";
  const said = scheduledText(spawn, standing(timed, next.right), isShown ? "task_1" : null);
  return E.right({ ...said, scheduled_at_instant: said["scheduled_at"], description: monitorDescription(spawn) });
};

const probed = (fire: JsonObject, at: string): string | undefined => {
  const tool = text(fire["tool"]);
  const { success, tool_error: error } = object(fire["result"]);
  if (tool === "") return undefined;
  if (success !== undefined) return probeText(tool, at, { type: "succeeded", text: probeResultText(success) });
  return error === undefined ? undefined : probeText(tool, at, { type: "failed", message: text(error) });
};

const monitor = (input: JsonObject): Result => {
  const { fire, at, one_shot } = input;
  if (fire === undefined) return scheduled(input);
  const note = probed(object(fire), text(at));
  const done =
    one_shot === true ? { task_state: "succeeded", summary: "Scheduled monitor completed" } : { task_state: "running" };
  return E.right({ message: note ?? fireText(text(at)), agent_turn: note === undefined, ...done });
};

const instant = (at: number | undefined): string | null => (at === undefined ? null : instantText(at));

const marked = (kind: Json | undefined, count: Json | undefined): Result => {
  const cron = kind === "oneshot" ? {} : { cron_expression: "*/10 * * * *" };
  const made = createSchedule({ id: "sched_1", description: "d", timezone: "UTC", ...cron }, "s", now);
  const fired: Schedule = triggered({ ...made, trigger_count: number(count) }, now);
  const next = fired.enabled ? E.toUnion(nextFire("*/10 * * * *", "UTC", now)) : undefined;
  return E.right({ ...fired, next: typeof next === "number" ? instantText(next) : null });
};

const schedule = (input: JsonObject): Result => {
  const { cron, timezone, after, min_interval, scheduled_at, mark_triggered, trigger_count } = input;
  if (mark_triggered !== undefined) return marked(mark_triggered, trigger_count);
  if (cron !== undefined && min_interval !== undefined && min_interval !== false) {
    const interval = intervalOf(text(cron), instantOf(text(after)) ?? now);
    const isTooOften = typeof min_interval === "number" && interval !== undefined && interval < min_interval;
    return isTooOften ? failed(firesTooOften(min_interval, interval)) : E.right({ interval_seconds: interval ?? null });
  }
  if (cron !== undefined) {
    const next = nextFire(text(cron), maybeText(timezone) ?? "UTC", instantOf(text(after)) ?? now);
    return checked(E.map((at: number) => ({ next: instantText(at) }))(next));
  }
  const at = instantOf(text(scheduled_at));
  const once = { id: "sched_1", description: "d", timezone: "UTC", ...(at === undefined ? {} : { scheduled_at: at }) };
  return E.right({ next: instant(createSchedule(once, "s", instantOf(text(input["now"])) ?? now).next_trigger_at) });
};

export const scheduleAdapters: Adapters = { "tools.monitor": monitor, "tools.schedule": schedule };

/** Schedules. */
import type { JsonObject } from "@pawl/tool-value";
import {
  type Schedule,
  createSchedule,
  firesTooOften,
  instantOf,
  instantText,
  triggered,
} from "@pawl/sansio-core/driver";
import { intervalOf, nextFire } from "@pawl/tools";
import { type Adapters, knownName, withFields } from "@pawl/testkit";
import * as E from "fp-ts/lib/Either.js";
import { type Result, checked, failed, maybeText, number, text } from "./input.ts";
import { monitorAdapters, now } from "./monitor.ts";

const instant = (at: number | undefined): string | null => (at === undefined ? null : instantText(at));

/** A schedule that has fired: the core asks for the next time, and the calendar answers. */
const marked = (input: JsonObject): Result => {
  const { mark_triggered: kind, cron = "*/10 * * * *", timezone = "UTC", trigger_count: count } = input;
  const at = instantOf(text(input["now"])) ?? now;
  const isOnce = knownName("word", kind, ["oneshot", "recurring"]) === "oneshot";
  const when = isOnce ? { scheduled_at: at } : { cron_expression: text(cron) };
  const made = createSchedule({ id: "sched_1", description: "d", timezone: text(timezone), ...when }, "s", at);
  const fired: Schedule = triggered({ ...made, trigger_count: number(count) }, at);
  if (!fired.enabled) return E.right({ ...fired, next: null });
  return checked(
    E.map((next: number) => ({ ...fired, next: instantText(next) }))(nextFire(text(cron), fired.timezone, at)),
  );
};

const schedule = (input: JsonObject): Result => {
  const { cron, timezone, after, min_interval, scheduled_at, mark_triggered } = input;
  if (mark_triggered !== undefined) return marked(input);
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

const scheduleFields = [
  "cron",
  "timezone",
  "after",
  "now",
  "min_interval",
  "scheduled_at",
  "mark_triggered",
  "trigger_count",
];

export const scheduleAdapters: Adapters = {
  ...monitorAdapters,
  "tools.schedule": withFields(scheduleFields, schedule),
};

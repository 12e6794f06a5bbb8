/** Schedules on the wire. */
import { type Codec, boolean, oneOf, optional, record, string, text, tagged, u64 } from "@pawl/tool-value";
import { MonitorCodec } from "../run/codec.ts";
import type { NewSchedule, Plan, ProbeOutcome, Schedule } from "./model.ts";

const said = {
  id: string,
  description: text,
  cron_expression: optional(string),
  scheduled_at: optional(u64),
  timezone: string,
};

export const ScheduleCodec: Codec<Schedule> = record<Schedule>("struct Schedule", {
  ...said,
  session_id: string,
  enabled: boolean,
  schedule_type: oneOf<Schedule["schedule_type"]>("a schedule type", "recurring", "oneshot"),
  next_trigger_at: optional(u64),
  last_triggered_at: optional(u64),
  trigger_count: u64,
  created_at: u64,
  updated_at: u64,
});

export const NewScheduleCodec: Codec<NewSchedule> = record<NewSchedule>("struct NewSchedule", {
  ...said,
  monitor: optional(MonitorCodec),
});

export const PlanCodec: Codec<Plan> = tagged<Plan, "status">("Plan", "status", {
  next: { at: u64, interval_s: optional(u64) },
  none: { message: text },
});

export const ProbeOutcomeCodec: Codec<ProbeOutcome> = tagged<ProbeOutcome, "type">("ProbeOutcome", "type", {
  succeeded: { text: text },
  failed: { message: text },
  skipped: {},
});

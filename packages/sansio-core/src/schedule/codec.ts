/** Schedules on the wire and in a snapshot, and instants as text. */
import {
  type Codec,
  type RecordOf,
  boolean,
  list,
  oneOf,
  optional,
  record,
  string,
  tagged,
  text,
  u64,
} from "@pawl/tool-value";
import type { SnapshotPart } from "../concern.ts";
import type { Deadline } from "../kernel/deadline.ts";
import { PersistentMap } from "../kernel/persistent-map.ts";
import { MonitorCodec } from "../run/codec.ts";
import type { NewSchedule, Plan, ProbeOutcome, Schedule, ScheduleRow, ScheduleRows } from "./model.ts";
import { schedulesOf } from "./handlers.ts";

const said = {
  id: string,
  description: text,
  cron_expression: optional(string),
  scheduled_at: optional(u64),
  timezone: string,
};

const ScheduleCodec: Codec<Schedule> = record<Schedule>("struct Schedule", {
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

// In a snapshot.

const DeadlineCodec: Codec<Deadline> = record<Deadline>("struct Deadline", { at: u64, birth: u64 });
const AskingCodec = record<NonNullable<ScheduleRow["asked"]>>("struct Asking", { after: u64, isNew: boolean });

const ScheduleRowCodec: Codec<ScheduleRow> = record<ScheduleRow>("struct ScheduleRow", {
  schedule: ScheduleCodec,
  born: u64,
  monitor: optional(MonitorCodec),
  asked: optional(AskingCodec),
  due: optional(DeadlineCodec),
  probe: optional(u64),
});

const fields = { schedules: list(ScheduleRowCodec) };

export const scheduleSnapshot: SnapshotPart<RecordOf<typeof fields>, ScheduleRows> = {
  fields,
  write: ({ schedules: { rows } }) => ({ schedules: rows.values().toSorted((a, b) => a.born - b.born) }),
  read: (shape) => {
    const rows = PersistentMap.of(shape.schedules.map((row) => [row.schedule.id, row]));
    return rows.size === shape.schedules.length ? { schedules: schedulesOf(rows) } : undefined;
  },
};

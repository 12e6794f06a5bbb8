/** Schedules: texts that a session is told again and again, or once, at its time. */
import { firstBroken } from "../kernel/error.ts";
import {
  string,
  u64,
  type Codec,
  type RecordOf,
  boolean,
  list,
  oneOf,
  optional,
  record,
  tagged,
  text,
} from "@pawl/tool-value";
import type { Check, Concern, SnapshotPart } from "../concern.ts";
import { type Born, type State, answered, toCaller } from "../kernel/vocabulary.ts";
import { type Due, isBefore, type Deadline } from "../kernel/deadline.ts";
import { PersistentMap } from "../kernel/persistent-map.ts";
import type {
  ScheduleCommand,
  ScheduleEvent,
  ScheduleRow,
  ScheduleRows,
  ScheduleSignal,
  NewSchedule,
  Plan,
  ProbeOutcome,
  Schedule,
} from "./model.ts";
import {
  onCancelled,
  onEnd,
  onEndAll,
  onPlanned,
  onProbed,
  onRequested,
  onScheduleDue,
  planning,
  probing,
  schedulesOf,
} from "./handlers.ts";
import { mostOf } from "../scope/concern.ts";
import { MonitorCodec } from "../run/codec.ts";

const said = {
  id: string,
  description: text,
  cron_expression: optional(string),
  every_ms: optional(u64),
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

const firstOf = (
  { schedules: { rows: schedules } }: State,
  broken: (row: ScheduleRow) => string | undefined,
): string | undefined => firstBroken(schedules.values(), (row) => `schedule \`${row.schedule.id}\``, broken);

export const checkM1: Check = (state) =>
  firstOf(state, ({ schedule, asked, due }) => {
    const { enabled, schedule_type: type, next_trigger_at: next } = schedule;
    if (due?.at !== next) return `M1: it is due at ${due?.at}, and says ${next}`;
    if (!enabled) return asked === undefined && due === undefined ? undefined : "M1: it is disabled, and fires";
    if (asked !== undefined && due !== undefined) return "M1: it knows when it fires, and asks";
    return type === "recurring" && asked === undefined && due === undefined
      ? "M1: it recurs, and never fires"
      : undefined;
  });

const enabled = ({ schedules: { rows: schedules } }: State): number =>
  schedules.values().filter(({ schedule }) => schedule.enabled).length;

export const checkM2Change = (before: State, after: State): string | undefined => {
  const max = mostOf("max_schedules", before, after);
  return enabled(after) <= Math.max(max, enabled(before)) ? undefined : `M2: ${enabled(after)} schedules of ${max}`;
};

export const checkM3: Check = ({ schedules: { rows: schedules, due: scheduleDue } }) => {
  let first: Due | undefined;
  for (const [key, { due }] of schedules) {
    const candidate = due === undefined ? undefined : { ...due, key };
    if (candidate !== undefined && (first === undefined || isBefore(candidate, first))) first = candidate;
  }
  return first?.at === scheduleDue?.at && first?.key === scheduleDue?.key
    ? undefined
    : `M3: found ${scheduleDue?.at} of \`${scheduleDue?.key}\`, expected ${first?.at} of \`${first?.key}\``;
};

export const checkM4: Check = (state) =>
  firstOf(state, ({ schedule }) => {
    const { schedule_type: type, trigger_count: count } = schedule;
    return type === "oneshot" && (count > 1 || (count === 1 && schedule.enabled))
      ? `M4: it fired ${count} times`
      : undefined;
  });

export const checkM4Change = (before: State, after: State): string | undefined =>
  firstOf(before, ({ schedule: was, born }) => {
    const row = after.schedules.rows.get(was.id);
    if (row?.born !== born || row.schedule.trigger_count >= was.trigger_count) return undefined;
    return `M4: it had fired ${was.trigger_count} times, now ${row.schedule.trigger_count}`;
  });

const over = ({ schedules: { rows: schedules } }: State): number =>
  schedules.values().filter(({ schedule, probe }) => !schedule.enabled && probe === undefined).length;

export const checkM5Change = (before: State, after: State): string | undefined => {
  const max = mostOf("max_ended_tasks", before, after);
  return over(after) <= Math.max(max, over(before)) ? undefined : `M5: ${over(after)} disabled schedules of ${max}`;
};

const scheduleChecks: readonly Check[] = [checkM1, checkM3, checkM4];
export const scheduleChangeChecks = [checkM2Change, checkM4Change, checkM5Change] as const;

const ofSchedules = ({ schedules }: State): Born[] =>
  schedules.rows.values().flatMap((row) => {
    const { schedule, born, asked, probe } = row;
    const commands = [
      ...(asked === undefined ? [] : [planning(schedule, asked.after)]),
      ...(probe === undefined ? [] : probing(row, probe)),
    ];
    return commands.map((command) => ({ born, index: 0, command }));
  });

export const schedule: Concern<ScheduleRows, ScheduleEvent["type"], ScheduleSignal["type"], ScheduleCommand["type"]> = {
  name: "schedule",
  events: {
    "schedule.requested": { fields: { schedule: NewScheduleCodec }, on: onRequested },
    "schedule.planned": { fields: { schedule: string, after: u64, plan: PlanCodec }, on: onPlanned },
    "schedule.cancelled": { fields: { schedule: string }, on: onCancelled },
    "probe.answered": { fields: { schedule: string, fire: u64, outcome: ProbeOutcomeCodec }, on: onProbed },
  },
  signals: {
    "schedule.end": { raises: [], on: onEnd },
    "schedules.end": { raises: [], on: onEndAll },
  },
  commands: {
    "schedule.next": {
      tag: 47,
      duty: answered("schedule.planned"),
      digest: (lanes, command) =>
        lanes.text(command.schedule).text(command.cron_expression).text(command.timezone).number(command.after),
    },
    "schedule.answer": {
      tag: 48,
      duty: toCaller,
      digest: (lanes, command) => lanes.text(command.schedule).text(command.answer.status),
    },
    "probe.run": {
      tag: 49,
      duty: { performed: "durable", afterLoss: "again", answeredBy: "probe.answered" },
      digest: (lanes, command) => lanes.text(command.schedule).number(command.fire).text(command.tool),
    },
  },
  due: { next: ({ schedules }) => schedules.due, on: onScheduleDue },
  outstanding: ofSchedules,
  isAtWork: (state) => ofSchedules(state).length > 0,
  checks: scheduleChecks,
  snapshot: scheduleSnapshot,
  rows: { schedules: { rows: PersistentMap.empty(), due: undefined } },
};

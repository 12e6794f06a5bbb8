/** What a session is told again and again, or once, at its time. */
import { string, u64 } from "@pawl/tool-value";
import { answered, toCaller } from "../kernel/duty.ts";
import { PersistentMap } from "../kernel/persistent-map.ts";
import { scheduleChangeChecks, scheduleChecks } from "./check.ts";
import { NewScheduleCodec, PlanCodec, ProbeOutcomeCodec } from "./codec.ts";
import { scheduleSnapshot } from "./snapshot.ts";
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
} from "./step.ts";
import type { ScheduleCommand, ScheduleEvent, ScheduleRows, ScheduleSignal } from "./model.ts";
import type { Concern } from "../concern.ts";
import type { Born } from "../kernel/command.ts";
import type { State } from "../kernel/state.ts";

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
  changes: { schedules: scheduleChangeChecks },
  snapshot: scheduleSnapshot,
  rows: { schedules: { rows: PersistentMap.empty(), due: undefined } },
};

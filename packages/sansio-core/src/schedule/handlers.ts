/** Schedules are asked for, planned, fire, are probed and cancelled. */
import type { Json } from "@pawl/tool-value";
import { type Due, isBefore } from "../kernel/deadline.ts";
import type { Draft } from "../kernel/draft.ts";
import { type Rejection, reject } from "../kernel/error.ts";
import { missingRule } from "../kernel/protocol.ts";
import type { EventOf, SignalOf } from "../kernel/vocabulary.ts";
import type { PersistentMap } from "../kernel/persistent-map.ts";
import {
  type Schedule,
  type ScheduleAnswer,
  type ScheduleRow,
  type Schedules,
  createSchedule,
  disabled,
  firesTooOften,
  fireText,
  instantText,
  intervalTooShort,
  nextOfInterval,
  probeText,
  sessionHasSchedules,
  triggered,
} from "./model.ts";
import { problemOfDeleted } from "../scope/concern.ts";

export const schedulesOf = (rows: PersistentMap<string, ScheduleRow>): Schedules => {
  let first: Due | undefined;
  for (const [key, { due }] of rows) {
    const candidate = due === undefined ? undefined : { ...due, key };
    if (candidate !== undefined && (first === undefined || isBefore(candidate, first))) first = candidate;
  }
  return { rows, due: first };
};

const putSchedule = (draft: Draft, row: ScheduleRow): void => {
  draft.set("schedules", schedulesOf(draft.state.schedules.rows.set(row.schedule.id, row)));
};

const dropSchedule = (draft: Draft, id: string): void => {
  draft.set("schedules", schedulesOf(draft.state.schedules.rows.delete(id)));
  draft.finished.push({ kind: "schedule", id });
};

const answer = (draft: Draft, schedule: string, said: ScheduleAnswer): void =>
  draft.emit({ type: "schedule.answer", schedule, answer: said });

const askNext = (draft: Draft, { schedule, monitor, born }: ScheduleRow, isNew: boolean): void => {
  const asked = { after: draft.at, isNew };
  putSchedule(draft, { schedule, born, asked, ...(monitor === undefined ? {} : { monitor }) });
  draft.emit(planning(schedule, draft.at));
};

interface Planning {
  readonly type: "schedule.next";
  readonly schedule: string;
  readonly cron_expression: string;
  readonly timezone: string;
  readonly after: number;
}
export const planning = ({ id, cron_expression = "", timezone }: Schedule, after: number): Planning => ({
  type: "schedule.next",
  schedule: id,
  cron_expression,
  timezone,
  after,
});

const problemOfRequest = (draft: Draft, { schedule }: EventOf<"schedule.requested">): Rejection | undefined => {
  const { scope, process, options } = draft;
  const { schedules } = draft.state;
  const deleted = problemOfDeleted(draft);
  if (deleted !== undefined) return deleted;
  if (process !== undefined || !scope.id.startsWith("session:")) {
    return reject("wrong_scope", `tasks and schedules live in sessions, and \`${scope.id}\` is none`);
  }
  if (schedule.every_ms !== undefined) {
    const missing = missingRule(scope.protocol, "intervals", "a schedule with an interval");
    if (missing !== undefined) return missing;
    if (schedule.every_ms < 1 || schedule.cron_expression !== undefined || schedule.scheduled_at !== undefined)
      return reject(
        "schedule_unplanned",
        `\`${schedule.id}\`: an interval has 1 ms or more, and no other time beside it`,
      );
  }
  if (schedules.rows.has(schedule.id)) return reject("schedule_exists", `schedule \`${schedule.id}\` is there already`);
  const max = options.max_schedules;
  const isFull = schedules.rows.values().filter((row) => row.schedule.enabled).length >= max;
  return isFull ? reject("too_many_schedules", sessionHasSchedules(max)) : undefined;
};

export const onRequested = (draft: Draft, event: EventOf<"schedule.requested">): Rejection | undefined => {
  const problem = problemOfRequest(draft, event);
  if (problem !== undefined) return problem;
  const { monitor } = event.schedule;
  const schedule = createSchedule(event.schedule, draft.scope.id.slice("session:".length), draft.at);
  const row = { schedule, born: draft.seq, ...(monitor === undefined ? {} : { monitor }) };
  const { min_interval_s: minimum } = draft.options;
  const { every_ms: every } = schedule;
  if (schedule.cron_expression !== undefined) askNext(draft, row, true);
  else if (every === undefined || every >= minimum * 1000) stand(draft, row, schedule);
  else answer(draft, schedule.id, { status: "refused", message: intervalTooShort(minimum, every) });
  return undefined;
};

/** A schedule stands, with its next fire, if it has one. */
const settle = (draft: Draft, row: ScheduleRow, schedule: Schedule): void => {
  const { asked: _asked, due: _due, ...standing } = row;
  const { next_trigger_at: at } = schedule;
  const due = at === undefined ? {} : { due: { at, birth: draft.seq } };
  putSchedule(draft, { ...standing, schedule, ...due });
};

/** A new one: who asked hears, and a monitor gets its task. */
const stand = (draft: Draft, row: ScheduleRow, schedule: Schedule): void => {
  settle(draft, row, schedule);
  const { monitor } = row;
  const isShown = monitor !== undefined && !draft.state.background.tasks.has(monitor.task);
  answer(draft, schedule.id, { status: "created", schedule, task: isShown ? monitor.task : null });
  if (!isShown) return;
  const { task: id, title: display_name, ...run } = monitor;
  draft.raise({
    type: "monitor.begin",
    schedule: schedule.id,
    task: { id, display_name, spec: specOf(run, schedule) },
  });
};

type Monitored = Pick<NonNullable<ScheduleRow["monitor"]>, "tool" | "arguments" | "signal_on_completion">;

const specOf = (
  monitored: Monitored,
  { id, schedule_type, cron_expression, every_ms, scheduled_at, timezone }: Schedule,
) => ({
  ...monitored,
  schedule_id: id,
  schedule_type,
  cron_expression: cron_expression ?? null,
  ...(every_ms === undefined ? {} : { every_ms }),
  scheduled_at: scheduled_at === undefined ? null : instantText(scheduled_at),
  timezone,
});

const notStanding = "the schedule was canceled before it stood";

const refuse = (draft: Draft, { schedule }: ScheduleRow, message: string): void => {
  dropSchedule(draft, schedule.id);
  answer(draft, schedule.id, { status: "refused", message });
};

/** The driver says when. What fires never again is over; of a new one, nobody has heard that it stood. */
export const onPlanned = (draft: Draft, event: EventOf<"schedule.planned">): Rejection | undefined => {
  const { schedule: id, after, plan } = event;
  const row = draft.state.schedules.rows.get(id);
  if (row?.asked?.after !== after)
    return reject("schedule_unknown", `\`${id}\` does not ask for its next fire after ${after}`);
  if (plan.status === "next" && plan.at <= after) {
    return reject("schedule_unplanned", `\`${id}\`: the next fire after ${after} is at ${plan.at}`);
  }
  const { isNew } = row.asked;
  const refusal = isNew ? refusalOf(draft, plan) : undefined;
  if (refusal !== undefined) refuse(draft, row, refusal);
  else if (plan.status === "none") end(draft, row);
  else (isNew ? stand : settle)(draft, row, { ...row.schedule, next_trigger_at: plan.at, updated_at: draft.at });
  return undefined;
};

const refusalOf = (draft: Draft, plan: EventOf<"schedule.planned">["plan"]): string | undefined => {
  if (plan.status === "none") return plan.message;
  const { min_interval_s: minimum } = draft.options;
  const { interval_s: interval } = plan;
  return interval !== undefined && interval < minimum ? firesTooOften(minimum, interval) : undefined;
};

/** Drops the oldest disabled ones where there are more than are kept, once nothing is asked of them. */
const trim = (draft: Draft): void => {
  const over = draft.state.schedules.rows
    .values()
    .filter(({ schedule, probe }) => !schedule.enabled && probe === undefined);
  const excess = over.length - draft.options.max_ended_tasks;
  if (excess <= 0) return;
  const oldest = over.toSorted((a, b) => a.born - b.born || (a.schedule.id < b.schedule.id ? -1 : 1));
  for (const { schedule } of oldest.slice(0, excess)) dropSchedule(draft, schedule.id);
};

/** Ends a schedule: it fires no more, and the monitor that showed it ends. */
const end = (draft: Draft, { schedule, born }: ScheduleRow): void => {
  putSchedule(draft, { schedule: disabled(schedule, draft.at), born });
  draft.raise({ type: "monitor.ended", schedule: schedule.id });
  trim(draft);
};

export const onCancelled = (draft: Draft, { schedule: id }: EventOf<"schedule.cancelled">): Rejection | undefined => {
  const row = draft.state.schedules.rows.get(id);
  if (row === undefined) return reject("schedule_unknown", "Schedule not found");
  if (!row.schedule.enabled) return reject("schedule_ended", `schedule \`${id}\` is disabled already`);
  if (row.asked?.isNew) refuse(draft, row, notStanding);
  else end(draft, row);
  return undefined;
};

/** A session that is told what to do takes it as its user's word. */
const bother = (draft: Draft, { id, description, trigger_count: count }: Schedule): void => {
  const said = { key: `schedule:${id}:${count}`, text: description, schedule: id };
  draft.putOutbox({ type: "session.tell", ...said, born: draft.seq });
  draft.emit({ type: "session.tell", ...said });
};

const note = (draft: Draft, { id, trigger_count: fire, schedule_type }: Schedule, text: string): void =>
  draft.raise({ type: "monitor.fired", schedule: id, fire, text, isLast: schedule_type === "oneshot" });

const firedAt = ({ last_triggered_at: at = 0 }: Schedule): string => instantText(at);

const announce = (draft: Draft, schedule: Schedule): void => {
  note(draft, schedule, fireText(firedAt(schedule)));
  bother(draft, schedule);
};

interface Probing {
  readonly type: "probe.run";
  readonly schedule: string;
  readonly fire: number;
  readonly tool: string;
  readonly arguments: Json;
}

/** The probe of a fire, where the schedule is a monitor. */
export const probing = ({ schedule: { id: schedule }, monitor }: ScheduleRow, fire: number): readonly Probing[] => {
  if (monitor === undefined) return [];
  const { tool, arguments: args } = monitor;
  return [{ type: "probe.run", schedule, fire, tool, arguments: args }];
};

/** A schedule's time has come. */
export const onScheduleDue = (draft: Draft, id: string): void => {
  const row = draft.state.schedules.rows.get(id);
  if (row === undefined) return;
  const { monitor, born } = row;
  const schedule = triggered(row.schedule, draft.at);
  const fired = { schedule, born, ...(monitor === undefined ? {} : { monitor }) };
  const { every_ms: every } = schedule;
  if (every !== undefined) {
    const at = nextOfInterval(row.schedule.next_trigger_at ?? draft.at, every, draft.at);
    settle(draft, fired, { ...schedule, next_trigger_at: at });
  } else if (schedule.enabled) askNext(draft, fired, false);
  else putSchedule(draft, fired);
  const probes = draft.options.probes ? probing(fired, schedule.trigger_count) : [];
  for (const probe of probes) {
    putSchedule(draft, { ...(draft.state.schedules.rows.get(id) ?? fired), probe: probe.fire });
    draft.emit(probe);
  }
  if (probes.length === 0) announce(draft, schedule);
  trim(draft);
};

/** A probe that came to something bothers nobody; a newer fire's is the one that counts. */
export const onProbed = (draft: Draft, event: EventOf<"probe.answered">): Rejection | undefined => {
  const { schedule: id, fire: count, outcome } = event;
  const row = draft.state.schedules.rows.get(id);
  if (row?.probe !== count) return reject("schedule_unknown", `no probe of fire ${count} of \`${id}\` is under way`);
  const { probe: _, ...rest } = row;
  putSchedule(draft, rest);
  const { schedule, monitor } = row;
  if (outcome.type === "skipped" || monitor === undefined) announce(draft, schedule);
  else note(draft, schedule, probeText(monitor.tool, firedAt(schedule), outcome));
  trim(draft);
  return undefined;
};

const stop = (draft: Draft, { schedule, born, asked }: ScheduleRow): void => {
  putSchedule(draft, { schedule: disabled(schedule, draft.at), born });
  if (asked?.isNew) answer(draft, schedule.id, { status: "refused", message: notStanding });
};

const stopAll = (draft: Draft, isMeant: (row: ScheduleRow) => boolean): void => {
  const rows = draft.state.schedules.rows.values().filter((row) => row.schedule.enabled && isMeant(row));
  for (const row of rows.toSorted((a, b) => a.born - b.born || (a.schedule.id < b.schedule.id ? -1 : 1)))
    stop(draft, row);
  trim(draft);
};

/** Its monitor was told to end. */
export const onEnd = (draft: Draft, { schedule: id }: SignalOf<"schedule.end">): void =>
  stopAll(draft, ({ schedule }) => schedule.id === id);

/** The session is deleted: nothing fires any more. */
export const onEndAll = (draft: Draft): void => stopAll(draft, () => true);

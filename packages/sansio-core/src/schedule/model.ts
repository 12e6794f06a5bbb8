/**
 * Schedules: what a session is told again and again, or once, at its time. The core keeps their state and their limits;
 * when one of a cron expression fires next is asked of the driver, which knows cron and time zones. An interval needs
 * neither, and is counted here.
 *
 *   asked ─▶ enabled ─▶ fires ─▶ [asks when next] ─▶ enabled      recurring; with an interval nothing is asked
 *     │         │         └────▶ disabled                         once
 *     ▼         └──────────────▶ disabled                         cancelled
 *   refused (no such time, too often)
 *
 * A fire is counted from the time that it happens: those that were missed are not made up for. A schedule may be a
 * monitor: a task shows it, and where the host has probes its tool is tried before anybody is bothered.
 *
 * Invariants
 *   M1  a schedule asks when it is next, or knows, or never fires again; only one that is enabled does either
 *   M2  no step leaves more schedules enabled than are allowed, unless there were more before
 *   M3  the next fire of all is the earliest of theirs
 *   M4  one that fires once is disabled when it has; how often one fired only grows
 *   M5  disabled schedules are kept up to a bound, unless there were more before
 */
import type { Json } from "@pawl/tool-value";
import type { PersistentMap } from "../kernel/persistent-map.ts";
import type { NewMonitor } from "../run/model.ts";
import type { Deadline, Due } from "../kernel/deadline.ts";

/** A schedule, as it is read. Times are scope time, in milliseconds. */
export interface Schedule {
  readonly id: string;
  readonly session_id: string;
  readonly description: string;
  readonly cron_expression?: string;
  /** The time from one fire to the next. */
  readonly every_ms?: number;
  readonly scheduled_at?: number;
  readonly timezone: string;
  readonly enabled: boolean;
  readonly schedule_type: "recurring" | "oneshot";
  readonly next_trigger_at?: number;
  readonly last_triggered_at?: number;
  readonly trigger_count: number;
  readonly created_at: number;
  readonly updated_at: number;
}

export interface NewSchedule {
  readonly id: string;
  readonly description: string;
  readonly cron_expression?: string;
  readonly every_ms?: number;
  readonly scheduled_at?: number;
  readonly timezone: string;
  readonly monitor?: NewMonitor;
}

export interface ScheduleRow {
  readonly schedule: Schedule;
  readonly born: number;
  readonly monitor?: NewMonitor;
  /** Asks when it fires next, after this time; `isNew`: nobody was told yet that it stands. */
  readonly asked?: { readonly after: number; readonly isNew: boolean };
  readonly due?: Deadline;
  /** A probe is under way: of which fire. */
  readonly probe?: number;
}

/** The driver's word on when a schedule fires next, and how often at the most. */
export type Plan =
  | { readonly status: "next"; readonly at: number; readonly interval_s?: number }
  | { readonly status: "none"; readonly message: string };

export type ProbeOutcome =
  | { readonly type: "succeeded"; readonly text: string }
  | { readonly type: "failed"; readonly message: string }
  /** There is no such probe, or it could not be tried. */
  | { readonly type: "skipped" };

export type ScheduleEvent =
  | { readonly type: "schedule.requested"; readonly schedule: NewSchedule }
  | { readonly type: "schedule.planned"; readonly schedule: string; readonly after: number; readonly plan: Plan }
  | { readonly type: "schedule.cancelled"; readonly schedule: string }
  | {
      readonly type: "probe.answered";
      readonly schedule: string;
      readonly fire: number;
      readonly outcome: ProbeOutcome;
    };

/** The answer to a request for a schedule. */
export type ScheduleAnswer =
  | { readonly status: "created"; readonly schedule: Schedule; readonly task: string | null }
  | { readonly status: "refused"; readonly message: string };

/** Words the refusal of a schedule beyond the session's limit. */
export const sessionHasSchedules = (limit: number): string =>
  `Maximum ${limit} active schedules per session. Cancel an existing schedule first.`;

/** Words the refusal of a schedule that fires too often. */
export const firesTooOften = (minimum: number, interval: number): string =>
  `Schedule cron must fire no more than once every ${minimum} seconds (≥ ${Math.floor(minimum / 60)} min); ` +
  `expression fires every ${interval} seconds`;

/** Makes a schedule as it is recorded, with its id and its times. */
export const createSchedule = (made: NewSchedule, session: string, now: number): Schedule => {
  const { monitor: _, ...said } = made;
  const { cron_expression: cron, every_ms: every, scheduled_at } = made;
  const recurs = cron !== undefined || every !== undefined;
  const at = every === undefined ? scheduled_at : now + every;
  return {
    ...said,
    session_id: session,
    enabled: true,
    schedule_type: recurs ? "recurring" : "oneshot",
    ...(cron === undefined && at !== undefined && at > now ? { next_trigger_at: at } : {}),
    trigger_count: 0,
    created_at: now,
    updated_at: now,
  };
};

const withoutNext = (schedule: Schedule): Schedule => {
  const { next_trigger_at: _, ...rest } = schedule;
  return rest;
};

/** Words the refusal of an interval that is too short. */
export const intervalTooShort = (minimum: number, everyMs: number): string =>
  `a schedule may fire once every ${minimum} seconds at most, and was to fire every ${everyMs / 1000}`;

/** Returns the first fire of an interval after a time. Those that were missed are left out. */
export const nextOfInterval = (last: number, everyMs: number, after: number): number =>
  last + everyMs * (Math.floor(Math.max(0, after - last) / everyMs) + 1);

/** Returns a schedule after a fire: one that fires once is over, another has to ask when it is next. */
export const triggered = (schedule: Schedule, now: number): Schedule => ({
  ...withoutNext(schedule),
  enabled: schedule.schedule_type === "recurring",
  last_triggered_at: now,
  trigger_count: schedule.trigger_count + 1,
  updated_at: now,
});

/** Returns a schedule that fires no more. */
export const disabled = (schedule: Schedule, now: number): Schedule => ({
  ...withoutNext(schedule),
  enabled: false,
  updated_at: now,
});

/** Words a fire, for its task. */
export const fireText = (at: string): string => `Monitor fired at ${at}.`;

/** Words what a monitor's probe found, for its session. */
export const probeText = (
  tool: string,
  at: string,
  outcome: Exclude<ProbeOutcome, { readonly type: "skipped" }>,
): string =>
  outcome.type === "succeeded"
    ? `Probe \`${tool}\` succeeded at ${at}.\n\n${outcome.text}`
    : `Probe \`${tool}\` failed at ${at}.\n\nError: ${outcome.message}`;

/** Signals that schedules hear. */
export type ScheduleSignal =
  | { readonly type: "schedule.end"; readonly schedule: string }
  | { readonly type: "schedules.end" };

/** Commands of schedules. */
export type ScheduleCommand =
  /** When a schedule fires next after a time, and how often at the most. */
  | {
      readonly type: "schedule.next";
      readonly schedule: string;
      readonly cron_expression: string;
      readonly timezone: string;
      readonly after: number;
    }
  /** Tells the caller that asked for a schedule. */
  | { readonly type: "schedule.answer"; readonly schedule: string; readonly answer: ScheduleAnswer }
  /** A monitor's tool is to be tried. */
  | {
      readonly type: "probe.run";
      readonly schedule: string;
      readonly fire: number;
      readonly tool: string;
      readonly arguments: Json;
    };

/** Schedules in a state. */
export interface Schedules {
  readonly rows: PersistentMap<string, ScheduleRow>;
  /** The next fire of all. */
  readonly due: Due | undefined;
}

/** Its rows in a state. */
export interface ScheduleRows {
  readonly schedules: Schedules;
}

// Instants as text, RFC 3339, without a platform's calendar: the same everywhere.

const dayMs = 86_400_000;

/** Days from 1970-01-01 to a day of the proleptic Gregorian calendar. */
const daysOf = (year: number, month: number, day: number): number => {
  const y = month <= 2 ? year - 1 : year;
  const era = Math.floor(y / 400);
  const yearOfEra = y - era * 400;
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * 146_097 + dayOfEra - 719_468;
};

const dateOf = (days: number): { readonly year: number; readonly month: number; readonly day: number } => {
  const shifted = days + 719_468;
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const shiftedMonth = Math.floor((5 * dayOfYear + 2) / 153);
  const month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9;
  const day = dayOfYear - Math.floor((153 * shiftedMonth + 2) / 5) + 1;
  return { year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day };
};

const padded = (n: number, width: number): string => String(n).padStart(width, "0");

/** Years of four digits: beyond them there is no RFC 3339, and the last instant of it stands for what is later. */
const last = 253_402_300_799_999;

/** An instant in UTC, with milliseconds where it has some. */
export const instantText = (at: number): string => {
  const ms = Math.min(at, last);
  const days = Math.floor(ms / dayMs);
  const { year, month, day } = dateOf(days);
  const rest = ms - days * dayMs;
  const date = `${padded(year, 4)}-${padded(month, 2)}-${padded(day, 2)}`;
  const clock = [rest / 3_600_000, (rest / 60_000) % 60, (rest / 1000) % 60].map((n) => padded(Math.floor(n), 2));
  return `${date}T${clock.join(":")}${rest % 1000 === 0 ? "" : `.${padded(rest % 1000, 3)}`}Z`;
};

const form =
  /^(?<date>\d{4}-\d{2}-\d{2})[Tt ](?<clock>\d{2}:\d{2}:\d{2})(?:\.(?<fraction>\d+))?(?<zone>[Zz]|[+-]\d{2}:\d{2})$/;

const numbers = (text: string): readonly [number, number, number] => {
  const [a = 0, b = 0, c = 0] = text.split(/[-:]/).map(Number);
  return [a, b, c];
};

const zoneMs = (zone: string): number | undefined => {
  if (zone === "Z" || zone === "z") return 0;
  const [hours, minutes] = numbers(zone.slice(1));
  if (hours > 23 || minutes > 59) return undefined;
  return (zone.startsWith("-") ? -1 : 1) * (hours * 60 + minutes) * 60_000;
};

/** The instant that a text names, in milliseconds; undefined where it is no RFC 3339. A leap second is the one before. */
export const instantOf = (text: string): number | undefined => {
  const { date, clock, fraction = "", zone } = form.exec(text)?.groups ?? {};
  if (date === undefined || clock === undefined || zone === undefined) return undefined;
  const [year, month, day] = numbers(date);
  const [hours, minutes, seconds] = numbers(clock);
  const days = daysOf(year, month, day);
  const isDate = month >= 1 && month <= 12 && day >= 1 && dateOf(days).day === day && dateOf(days).month === month;
  const offset = zoneMs(zone);
  if (!isDate || hours > 23 || minutes > 59 || seconds > 60 || offset === undefined) return undefined;
  const ms = Number(fraction.slice(0, 3).padEnd(3, "0"));
  return days * dayMs + (hours * 3600 + minutes * 60 + Math.min(seconds, 59)) * 1000 + ms - offset;
};

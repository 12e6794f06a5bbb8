/**
 * Schedules as programs make them, beside those that models make with a tool: a session is told a text, at the times of a cron
 * expression, again and again after an interval, or once. What fires goes to `tell` of the host, which begins a turn with it.
 */
import { type NewSchedule, type Schedule } from "@pawl/sansio-core/driver";
import { stableHash } from "@pawl/tool-value";
import { durationMs } from "../../encoding.ts";
import { Refused, shownOf } from "../../error.ts";
import type { Background } from "./background.ts";
import { scheduleIdOf } from "./request.ts";

/** A text for a session, and when it is told. */
export interface ScheduleRequest {
  /** Names the schedule in its session: one that is created again under its key is the same, after a restart too. */
  readonly key: string;
  readonly text: string;
  /** Five fields, as cron has them: `0 9 * * 1` is each Monday at nine. */
  readonly cron?: string;
  /** The time from one fire to the next, in milliseconds or as `"2h 30m"`. The first fire is one interval from now. */
  readonly every?: number | string;
  /** Once, at this time. */
  readonly at?: Date;
  /** The IANA time zone of the cron expression. Default: UTC. */
  readonly timezone?: string;
}

/** A schedule of a session. */
export interface SessionSchedule {
  readonly id: string;
  readonly text: string;
  readonly cron?: string;
  readonly everyMs?: number;
  readonly at?: Date;
  readonly timezone: string;
  /** False once it fires no more. */
  readonly isActive: boolean;
  readonly nextAt?: Date;
  readonly lastAt?: Date;
  /** Counts how often it has fired. */
  readonly fired: number;
}

const shown = (schedule: Schedule): SessionSchedule => {
  const {
    cron_expression: cron,
    every_ms: everyMs,
    scheduled_at: at,
    next_trigger_at: next,
    last_triggered_at: last,
  } = schedule;
  return {
    id: schedule.id,
    text: schedule.description,
    ...(cron === undefined ? {} : { cron }),
    ...(everyMs === undefined ? {} : { everyMs }),
    ...(at === undefined ? {} : { at: new Date(at) }),
    timezone: schedule.timezone,
    isActive: schedule.enabled,
    ...(next === undefined ? {} : { nextAt: new Date(next) }),
    ...(last === undefined ? {} : { lastAt: new Date(last) }),
    fired: schedule.trigger_count,
  };
};

const wrong = (what: string): Refused => new Refused("invalid_argument", `a schedule: ${what}`);

const isBlank = (found: unknown): boolean => typeof found !== "string" || found.trim() === "";

const everyMsOf = (every: number | string): number => {
  const ms = typeof every === "number" ? every : durationMs(every);
  if (ms !== undefined && Number.isSafeInteger(ms) && ms > 0) return ms;
  throw wrong(`\`every\`: expected whole milliseconds or a text like \`2h 30m\`, found ${shownOf(every)}`);
};

const admitted = (session: string, { key, text, cron, every, at, timezone = "UTC" }: ScheduleRequest): NewSchedule => {
  if (isBlank(key)) throw wrong(`expected a \`key\` that is not blank, found ${shownOf(key)}`);
  if (isBlank(text)) throw wrong(`expected a \`text\` that is not blank, found ${shownOf(text)}`);
  const times = [cron, every, at].filter((time) => time !== undefined);
  if (times.length !== 1) throw wrong(`expected one of \`cron\`, \`every\` and \`at\`, found ${times.length}`);
  if (at !== undefined && !Number.isFinite(at.getTime())) throw wrong("`at` is no valid date");
  const when = {
    ...(cron === undefined ? {} : { cron_expression: cron }),
    ...(every === undefined ? {} : { every_ms: everyMsOf(every) }),
    ...(at === undefined ? {} : { scheduled_at: at.getTime() }),
  };
  const id = scheduleIdOf(stableHash([`session:${session}`, "schedule", key]));
  return { id, description: text, timezone, ...when };
};

/** Makes, lists and cancels the schedules of sessions. */
export class Schedules {
  readonly #background: Background;

  constructor(background: Background) {
    this.#background = background;
  }

  /** Creates a schedule, or finds the one that has its key. Throws `schedule_refused` where its session takes no more. */
  async create(session: string, schedule: ScheduleRequest): Promise<SessionSchedule> {
    const answer = await this.#background.of(session).schedule(admitted(session, schedule));
    if (answer.status === "refused") throw new Refused("schedule_refused", answer.message);
    return shown(answer.schedule);
  }

  /** Lists the schedules of a session, oldest first, with those that have ended. */
  async list(session: string): Promise<readonly SessionSchedule[]> {
    return (await this.#background.of(session).schedules()).map(shown);
  }

  /** Cancels a schedule, by its id: it fires no more. */
  cancel(session: string, id: string): Promise<void> {
    return this.#background.of(session).cancelSchedule(id);
  }
}

/** What a state keeps of schedules: few rows, so that the next fire is found anew where one of them changes. */
import type { PersistentMap } from "../kernel/persistent-map.ts";
import { type Due, isBefore } from "../kernel/deadline.ts";
import type { Draft } from "../kernel/draft.ts";
import type { ScheduleRow, Schedules } from "./model.ts";

export const schedulesOf = (rows: PersistentMap<string, ScheduleRow>): Schedules => {
  let first: Due | undefined;
  for (const [key, { due }] of rows) {
    const candidate = due === undefined ? undefined : { ...due, key };
    if (candidate !== undefined && (first === undefined || isBefore(candidate, first))) first = candidate;
  }
  return { rows, due: first };
};

export const putSchedule = (draft: Draft, row: ScheduleRow): void => {
  draft.set("schedules", schedulesOf(draft.state.schedules.rows.set(row.schedule.id, row)));
};

export const dropSchedule = (draft: Draft, id: string): void => {
  draft.set("schedules", schedulesOf(draft.state.schedules.rows.delete(id)));
  draft.finished.push({ kind: "schedule", id });
};

/** What a state keeps of schedules, and what of none. */
import { PersistentMap } from "../kernel/persistent-map.ts";
import type { Due } from "../kernel/deadline.ts";
import type { ScheduleRow } from "./model.ts";

export interface Schedules {
  readonly rows: PersistentMap<string, ScheduleRow>;
  /** The next fire of all. */
  readonly due: Due | undefined;
}

export const noSchedules: Schedules = { rows: PersistentMap.empty(), due: undefined };

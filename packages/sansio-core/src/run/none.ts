/** What a state keeps of runs and tasks, and what of none. */
import { PersistentMap } from "../kernel/persistent-map.ts";
import type { Asked, RunRow, TaskRow } from "./model.ts";

export interface Background {
  /** Of a session. */
  readonly tasks: PersistentMap<string, TaskRow>;
  readonly asked: PersistentMap<string, Asked>;
  /** Of the scope of a process. */
  readonly run: RunRow | undefined;
}

export const noBackground: Background = { tasks: PersistentMap.empty(), asked: PersistentMap.empty(), run: undefined };

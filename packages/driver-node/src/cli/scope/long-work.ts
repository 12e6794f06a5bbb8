/** Background runs, tasks and schedules as a person sees them: how far each is. */
import { type RunRow, type Schedule, type State, type Task, isTerminal } from "@pawl/sansio-core";
import type { JournalFile } from "../journal-file.ts";
import { stateOf } from "../act/fold.ts";
import { barOf } from "./progress.ts";
import { untilText } from "./time.ts";

export const runText = ({ title, phase, attempt, detail, progress }: RunRow): string => {
  const bar = progress === undefined ? "" : `  ${barOf(progress)}`;
  const again = attempt === 1 ? "" : `, attempt ${attempt}`;
  return phase === "running" ? `run ${title}: ${detail}${again}${bar}` : `run ${title}: ${phase}${again}`;
};

const taskText = ({ id, kind, display_name: name, state, state_detail: detail, progress, summary }: Task): string => {
  const said = isTerminal(state) ? summary : detail;
  const bar = progress === undefined || isTerminal(state) ? "" : `  ${barOf(progress)}`;
  return `task ${name} (${kind}, ${id}): ${state}${said === undefined ? "" : `, ${said}`}${bar}`;
};

const scheduleText = ({ id, enabled, next_trigger_at: at, trigger_count: count }: Schedule, now: number): string => {
  const next = enabled ? (at === undefined ? "never fires" : `fires ${untilText(at, now)}`) : "over";
  return `schedule ${id}: ${next}; fired ${count} times`;
};

/** A line each. */
export const longWorkLines = ({ background, schedules }: State, now: number): readonly string[] => [
  ...(background.run === undefined ? [] : [runText(background.run)]),
  ...background.tasks
    .values()
    .toSorted((a, b) => a.born - b.born)
    .map(({ task }) => taskText(task)),
  ...schedules.rows
    .values()
    .toSorted((a, b) => a.born - b.born)
    .map(({ schedule }) => scheduleText(schedule, now)),
];

/** The run that lives in a scope, if one does. */
export const runIn = async (journal: JournalFile, scope: string): Promise<RunRow | undefined> =>
  scope.startsWith("process:bg_") ? (await stateOf(journal, scope)).background.run : undefined;

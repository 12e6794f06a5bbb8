/** Runs are asked for, begin, report, are lost, end; tasks are made, updated, asked to end, and spoken to. */
import type { Draft } from "../kernel/draft.ts";
import { processScope } from "../identity/process-scope.ts";
import type { SignalOf } from "../kernel/signal.ts";
import { failedRun, updateOf } from "./finish.ts";
import { countedId } from "./model.ts";
import { monitorsOf, noteFire } from "./session.ts";
import { isTerminal, misfitOfUpdate } from "./task.ts";
import { updateTask } from "./tell.ts";

/** A run's word on its task: taken from its own process alone. */
export const onReported = (draft: Draft, { from, task, run, update }: SignalOf<"task.report">): void => {
  const row = draft.state.background.tasks.get(task);
  if (row?.run === undefined || processScope(row.run.run) !== from) return;
  if (misfitOfUpdate(row.task, update) === undefined) updateTask(draft, row, update, run);
};

/** Its process would not begin. */
export const onRefused = (draft: Draft, { process, message }: SignalOf<"task.refused">): void => {
  const row = draft.state.background.tasks.values().find(({ run }) => run?.run === process);
  if (row !== undefined && !isTerminal(row.task.state)) updateTask(draft, row, updateOf(failedRun(message), undefined));
};

export const onFired = (draft: Draft, { schedule, fire, text, isLast }: SignalOf<"monitor.fired">): void => {
  const rows = monitorsOf(draft, schedule);
  const id = countedId(`tmsg_${schedule.slice(schedule.indexOf("_") + 1)}`, fire);
  for (const row of rows) noteFire(draft, row, { id, text, isLast });
};

export const onScheduleEnded = (draft: Draft, { schedule }: SignalOf<"monitor.ended">): void => {
  for (const row of monitorsOf(draft, schedule)) {
    updateTask(draft, row, { state: "canceled", state_detail: "schedule canceled" });
  }
};

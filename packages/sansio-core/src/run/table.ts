/** What a state keeps of runs and tasks. */
import type { Draft } from "../kernel/draft.ts";
import type { Asked, Background, RunRow, TaskRow } from "./model.ts";

const change = (draft: Draft, part: Partial<Background>): void => {
  draft.set("background", { ...draft.state.background, ...part });
};

export const putTask = (draft: Draft, row: TaskRow): void =>
  change(draft, { tasks: draft.state.background.tasks.set(row.task.id, row) });

export const dropTask = (draft: Draft, id: string): void => {
  change(draft, { tasks: draft.state.background.tasks.delete(id) });
  draft.finished.push({ kind: "task", id });
};

export const putAsked = (draft: Draft, row: Asked): void =>
  change(draft, { asked: draft.state.background.asked.set(row.run, row) });

export const dropAsked = (draft: Draft, run: string): void =>
  change(draft, { asked: draft.state.background.asked.delete(run) });

export const setRun = (draft: Draft, run: RunRow): void => change(draft, { run });

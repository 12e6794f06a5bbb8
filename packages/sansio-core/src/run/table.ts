/** What a state keeps of runs and tasks. */
import type { Draft } from "../kernel/draft.ts";
import type { Asked, RunRow, TaskRow } from "./model.ts";
import type { Background } from "./none.ts";

const change = (draft: Draft, part: Partial<Background>): void => {
  draft.setWork({ background: { ...draft.work.background, ...part } });
};

export const putTask = (draft: Draft, row: TaskRow): void =>
  change(draft, { tasks: draft.work.background.tasks.set(row.task.id, row) });

export const dropTask = (draft: Draft, id: string): void => {
  change(draft, { tasks: draft.work.background.tasks.delete(id) });
  draft.finished.push({ kind: "task", id });
};

export const putAsked = (draft: Draft, row: Asked): void =>
  change(draft, { asked: draft.work.background.asked.set(row.run, row) });

export const dropAsked = (draft: Draft, run: string): void =>
  change(draft, { asked: draft.work.background.asked.delete(run) });

export const setRun = (draft: Draft, run: RunRow): void => change(draft, { run });

/** Tasks and runs in a snapshot: as they are. */
import { type Codec, array, boolean, defaulted, oneOf, optional, record, string, u64 } from "@pawl/tool-value";
import type { SnapshotPart } from "../concern.ts";
import { PersistentMap } from "../kernel/persistent-map.ts";
import { ProcessRegistration } from "../message/process.ts";
import { ProgressCodec, TaskCodec } from "../message/task.ts";
import { FilledCodec, RunDefinitionCodec, RunOutcomeCodec, TaskMessageCodec } from "./codec.ts";
import type { TaskMessage } from "./message.ts";
import type { Asked, RunRow, RunRows, TaskRow, TaskRun } from "./model.ts";

const TaskRunCodec: Codec<TaskRun> = record<TaskRun>("struct TaskRun", { run: string, tool: string, signal: boolean });

const TaskRowCodec: Codec<TaskRow> = record<TaskRow>("struct TaskRow", {
  task: TaskCodec,
  born: u64,
  messages: defaulted<readonly TaskMessage[]>(array(TaskMessageCodec), [], (list) => list.length === 0),
  run: optional(TaskRunCodec),
  schedule: optional(string),
});

const AskedCodec: Codec<Asked> = record<Asked>("struct Asked", {
  run: string,
  registration: ProcessRegistration,
  hash: string,
  definition: RunDefinitionCodec,
  born: u64,
});

const RunRowCodec: Codec<RunRow> = record<RunRow>("struct Run", {
  definition: RunDefinitionCodec,
  title: string,
  session: optional(string),
  phase: oneOf<RunRow["phase"]>("a phase of a run", "running", "finishing", "ended"),
  attempt: u64,
  detail: string,
  progress: optional(ProgressCodec),
  filled: FilledCodec,
  outcome: optional(RunOutcomeCodec),
});

const isEmpty = (list: readonly unknown[]): boolean => list.length === 0;

interface Shape {
  readonly tasks: readonly TaskRow[];
  readonly asked: readonly Asked[];
  readonly run?: RunRow;
}

export const runSnapshot: SnapshotPart<Shape, RunRows> = {
  fields: {
    tasks: defaulted<readonly TaskRow[]>(array(TaskRowCodec), [], isEmpty),
    asked: defaulted<readonly Asked[]>(array(AskedCodec), [], isEmpty),
    run: optional(RunRowCodec),
  },
  write: ({ background: { tasks, asked, run } }) => ({
    tasks: tasks.values().toSorted((a, b) => a.born - b.born || (a.task.id < b.task.id ? -1 : 1)),
    asked: asked.values().toSorted((a, b) => a.born - b.born),
    ...(run === undefined ? {} : { run }),
  }),
  read: (shape) => {
    const tasks = PersistentMap.of(shape.tasks.map((row) => [row.task.id, row]));
    const asked = PersistentMap.of(shape.asked.map((row) => [row.run, row]));
    const isWhole = tasks.size === shape.tasks.length && asked.size === shape.asked.length;
    return isWhole ? { background: { tasks, asked, run: shape.run } } : undefined;
  },
};

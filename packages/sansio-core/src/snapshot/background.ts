/** Tasks, runs and schedules in a snapshot: as they are. */
import { type Codec, array, boolean, defaulted, oneOf, optional, record, string, u64 } from "@pawl/tool-value";
import { ProgressCodec, TaskCodec } from "../message/task.ts";
import { FilledCodec, MonitorCodec, RunDefinitionCodec, RunOutcomeCodec, TaskMessageCodec } from "../run/codec.ts";
import type { TaskMessage } from "../run/message.ts";
import type { Asked, RunRow, TaskRow, TaskRun } from "../run/model.ts";
import { ProcessRegistration } from "../message/process.ts";
import { ScheduleCodec } from "../schedule/codec.ts";
import type { ScheduleRow } from "../schedule/model.ts";
import { DeadlineCodec } from "./effect.ts";

const TaskRunCodec: Codec<TaskRun> = record<TaskRun>("struct TaskRun", { run: string, tool: string, signal: boolean });

export const TaskRowCodec: Codec<TaskRow> = record<TaskRow>("struct TaskRow", {
  task: TaskCodec,
  born: u64,
  messages: defaulted<readonly TaskMessage[]>(array(TaskMessageCodec), [], (list) => list.length === 0),
  run: optional(TaskRunCodec),
  schedule: optional(string),
});

export const AskedCodec: Codec<Asked> = record<Asked>("struct Asked", {
  run: string,
  registration: ProcessRegistration,
  hash: string,
  definition: RunDefinitionCodec,
  born: u64,
});

export const RunRowCodec: Codec<RunRow> = record<RunRow>("struct Run", {
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

const AskingCodec = record<NonNullable<ScheduleRow["asked"]>>("struct Asking", { after: u64, isNew: boolean });

export const ScheduleRowCodec: Codec<ScheduleRow> = record<ScheduleRow>("struct ScheduleRow", {
  schedule: ScheduleCodec,
  born: u64,
  monitor: optional(MonitorCodec),
  asked: optional(AskingCodec),
  due: optional(DeadlineCodec),
  probe: optional(u64),
});

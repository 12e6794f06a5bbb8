/** Runs on the wire, and runs and tasks in a snapshot. */
import {
  type Codec,
  type RecordOf,
  array,
  boolean,
  json,
  list,
  oneOf,
  optional,
  record,
  string,
  tagged,
  text,
  u64,
} from "@pawl/tool-value";
import type { SnapshotPart } from "../concern.ts";
import { PersistentMap } from "../kernel/persistent-map.ts";
import { ProcessRegistration } from "../message/process.ts";
import { ProgressCodec, TaskCodec, TaskErrorCodec } from "../message/task.ts";
import type { Filled, Output, RunOutcome } from "./finish.ts";
import type { MessagePart, NewMessage, TaskMessage } from "./task.ts";
import type { Asked, NewMonitor, Permit, RunDefinition, RunRow, RunRows, TaskRow, TaskRun } from "./model.ts";

const MessagePartCodec: Codec<MessagePart> = tagged<MessagePart, "type">("MessagePart", "type", {
  text: { text: text },
  data: { data: json },
});
const newMessage = {
  id: string,
  task_id: string,
  direction: oneOf<NewMessage["direction"]>("a direction", "inbound", "outbound"),
  content: array(MessagePartCodec),
  in_reply_to: optional(string),
};
export const NewMessageCodec: Codec<NewMessage> = record<NewMessage>("struct NewMessage", newMessage);
const TaskMessageCodec: Codec<TaskMessage> = record<TaskMessage>("struct TaskMessage", {
  ...newMessage,
  created_at: u64,
});

export const RunDefinitionCodec: Codec<RunDefinition> = record<RunDefinition>("struct RunDefinition", {
  task: string,
  tool: string,
  arguments: json,
  reattachable: boolean,
  signal_on_completion: boolean,
});
const RunOutcomeCodec: Codec<RunOutcome> = tagged<RunOutcome, "type">("RunOutcome", "type", {
  succeeded: { summary: text, result: json, raw_output: optional(text) },
  failed: { error: TaskErrorCodec },
  canceled: {},
});
const FilledCodec: Codec<Filled> = record<Filled>("struct Filled", { length: u64, isTruncated: boolean });

export const MonitorCodec: Codec<NewMonitor> = record<NewMonitor>("struct Monitor", {
  task: string,
  title: text,
  tool: string,
  arguments: json,
  signal_on_completion: boolean,
});

/** Reads and writes a piece of a background run's output. */
export const OutputCodec: Codec<Output> = record<Output>("struct Output", { stream: string, delta: text });
export const PermitCodec: Codec<Permit> = tagged<Permit, "status">("Permit", "status", {
  granted: {},
  refused: { limit: u64 },
});

// In a snapshot.

const TaskRunCodec: Codec<TaskRun> = record<TaskRun>("struct TaskRun", { run: string, tool: string, signal: boolean });

const TaskRowCodec: Codec<TaskRow> = record<TaskRow>("struct TaskRow", {
  task: TaskCodec,
  born: u64,
  messages: list(TaskMessageCodec),
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

const fields = { tasks: list(TaskRowCodec), asked: list(AskedCodec), run: optional(RunRowCodec) };

export const runSnapshot: SnapshotPart<RecordOf<typeof fields>, RunRows> = {
  fields,
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

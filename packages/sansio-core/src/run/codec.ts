/** Tasks and runs on the wire. */
import {
  type Codec,
  array,
  boolean,
  codecFrom,
  defaulted,
  json,
  oneOf,
  optional,
  record,
  refuse,
  string,
  tagged,
  text,
  u64,
} from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { ProcessRegistration } from "../process/codec.ts";
import type { RunOutcome } from "./finish.ts";
import type { MessagePart, NewMessage, TaskMessage } from "./message.ts";
import type { NewMonitor, Permit, RunDefinition } from "./model.ts";
import type { Filled, Output } from "./output.ts";
import {
  type Artifact,
  type InputRequest,
  type NewTask,
  type Progress,
  type Task,
  type TaskError,
  type TaskLinks,
  type TaskState,
  type TaskUpdate,
  type WakePolicy,
  activeStates,
  terminalStates,
} from "./task.ts";

/** Any number that is one; a minus before nothing is dropped, as everywhere. */
const finite: Codec<number> = codecFrom<number>(
  "a number",
  (u): u is number => typeof u === "number" && Number.isFinite(u),
  (u, c) => (typeof u === "number" && Number.isFinite(u) ? E.right(u + 0) : refuse(u, c, "expected a number")),
  (n) => n + 0,
);
const TaskStateCodec: Codec<TaskState> = oneOf<TaskState>("a task state", ...activeStates, ...terminalStates);
const WakePolicyCodec: Codec<WakePolicy> = oneOf("a wake policy", "silent", "on_terminal", "on_activity");

export const ProgressCodec: Codec<Progress> = record<Progress>("struct BackgroundProgress", {
  current: optional(finite),
  total: optional(finite),
  unit: optional(string),
  label: optional(string),
});
const InputRequestCodec: Codec<InputRequest> = record<InputRequest>("struct InputRequest", {
  id: string,
  prompt: text,
  expected: optional(json),
});
const ArtifactCodec: Codec<Artifact> = record<Artifact>("struct Artifact", {
  name: string,
  type: string,
  path: optional(string),
  url: optional(string),
});
const TaskErrorCodec: Codec<TaskError> = record<TaskError>("struct TaskError", {
  kind: string,
  message: text,
});

const ids = defaulted<readonly string[]>(array(string), [], (list) => list.length === 0);
const links = { child_session_id: optional(string), remote_task_id: optional(string) };
const LinksCodec: Codec<TaskLinks> = record<TaskLinks>("struct TaskLinks", { ...links, resource_ids: ids });
const noLinks: TaskLinks = { resource_ids: [] };
const hasNoLinks = ({ child_session_id, remote_task_id, resource_ids }: TaskLinks): boolean =>
  child_session_id === undefined && remote_task_id === undefined && resource_ids.length === 0;
const MoreLinksCodec: Codec<Partial<TaskLinks>> = record<Partial<TaskLinks>>("struct TaskLinks", {
  ...links,
  resource_ids: optional(array(string)),
});

const content = {
  state_detail: optional(text),
  progress: optional(ProgressCodec),
  input_request: optional(InputRequestCodec),
  summary: optional(text),
  result_path: optional(string),
  error: optional(TaskErrorCodec),
  worker_id: optional(string),
  heartbeat_at: optional(u64),
};

export const TaskCodec: Codec<Task> = record<Task>("struct Task", {
  id: string,
  session_id: string,
  kind: string,
  display_name: text,
  spec: json,
  state: TaskStateCodec,
  ...content,
  cancel_requested_at: optional(u64),
  artifacts: defaulted<readonly Artifact[]>(array(ArtifactCodec), [], (list) => list.length === 0),
  attempt: u64,
  links: defaulted<TaskLinks>(LinksCodec, noLinks, hasNoLinks),
  wake_policy: WakePolicyCodec,
  created_at: u64,
  started_at: optional(u64),
  finished_at: optional(u64),
  updated_at: u64,
});

const NewTaskCodec: Codec<NewTask> = record<NewTask>("struct NewTask", {
  id: string,
  kind: string,
  display_name: text,
  spec: json,
  state: optional(TaskStateCodec),
  wake_policy: optional(WakePolicyCodec),
  links: optional(LinksCodec),
});

export const TaskUpdateCodec: Codec<TaskUpdate> = record<TaskUpdate>("struct TaskUpdate", {
  state: optional(TaskStateCodec),
  ...content,
  artifacts: optional(array(ArtifactCodec)),
  links: optional(MoreLinksCodec),
  expected_attempt: optional(u64),
  increment_attempt: optional(boolean),
});

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
const NewMessageCodec: Codec<NewMessage> = record<NewMessage>("struct NewMessage", newMessage);
export const TaskMessageCodec: Codec<TaskMessage> = record<TaskMessage>("struct TaskMessage", {
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
export const RunOutcomeCodec: Codec<RunOutcome> = tagged<RunOutcome, "type">("RunOutcome", "type", {
  succeeded: { summary: text, result: json, raw_output: optional(text) },
  failed: { error: TaskErrorCodec },
  canceled: {},
});
export const FilledCodec: Codec<Filled> = record<Filled>("struct Filled", { length: u64, isTruncated: boolean });

export const MonitorCodec: Codec<NewMonitor> = record<NewMonitor>("struct Monitor", {
  task: string,
  title: text,
  tool: string,
  arguments: json,
  signal_on_completion: boolean,
});

export const OutputCodec: Codec<Output> = record<Output>("struct Output", { stream: string, delta: text });
const PermitCodec: Codec<Permit> = tagged<Permit, "status">("Permit", "status", {
  granted: {},
  refused: { limit: u64 },
});

export const backgroundEvents = {
  "run.requested": { registration: ProcessRegistration, hash: string },
  "permit.answered": { run: string, permit: PermitCodec },
  "run.reported": {
    attempt: u64,
    detail: optional(text),
    progress: optional(ProgressCodec),
    output: defaulted<readonly Output[]>(array(OutputCodec), [], (list) => list.length === 0),
  },
  "artifacts.written": { attempt: u64, written: boolean },
  "task.created": { task: NewTaskCodec },
  "task.updated": { task: string, update: TaskUpdateCodec },
  "task.cancel_requested": { task: string },
  "task.messaged": { message: NewMessageCodec, expected_attempt: optional(u64) },
} as const;

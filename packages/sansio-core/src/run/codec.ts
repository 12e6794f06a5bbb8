/** Runs on the wire. */
import {
  type Codec,
  array,
  boolean,
  defaulted,
  json,
  oneOf,
  optional,
  record,
  string,
  tagged,
  text,
  u64,
} from "@pawl/tool-value";
import { ProcessRegistration } from "../message/process.ts";
import { NewTaskCodec, ProgressCodec, TaskErrorCodec, TaskUpdateCodec } from "../message/task.ts";
import type { RunOutcome } from "./finish.ts";
import type { MessagePart, NewMessage, TaskMessage } from "./message.ts";
import type { NewMonitor, Permit, RunDefinition } from "./model.ts";
import type { Filled, Output } from "./output.ts";

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

/**
 * Commands are what the core asks of the world. They are derived, never recorded. The duty table says when a driver
 * performs each, what it does with it after its owner was lost, and which event answers it; drivers obey.
 */
import type { Json, ToolCallOutput } from "@pawl/tool-value";
import type { RunOutcome } from "./background/finish.ts";
import type { SpawnAnswer } from "./background/model.ts";
import type { Task } from "./background/task.ts";
import type { ResumeCause, UnknownCause } from "./call/model.ts";
import type { Recovery } from "./catalog/model.ts";
import type { StepRecovery } from "./effect/model.ts";
import type { FlowExecutionEvent } from "./flow/event.ts";
import type { FlowEnd } from "./flow/model.ts";
import type { CallRef } from "./ids.ts";
import type { Outcome } from "./link/message.ts";
import type { Sending } from "./link/model.ts";
import type { ProcessState } from "./process/model.ts";
import type { WakeDelivery } from "./process/wake.ts";
import type { Reply } from "./request/model.ts";
import type { ScheduleAnswer } from "./schedule/model.ts";

interface OfRun {
  readonly call: CallRef;
  readonly attempt: number;
  readonly run: number;
}

/** What a batch came to: a reply a call, in order, and what its calls triggered. */
export interface Replies {
  readonly replies: readonly Reply[];
  readonly triggers: readonly Json[];
}

export type Command =
  | {
      readonly type: "hook.run";
      readonly call: CallRef;
      readonly phase: "before" | "after";
      readonly tool: string;
      readonly args: Json;
      readonly output?: ToolCallOutput;
      readonly duration_ms?: number;
    }
  | { readonly type: "args.check"; readonly call: CallRef; readonly tool_id: string; readonly args: Json }
  | { readonly type: "tool.prepare"; readonly call: CallRef; readonly tool_id: string; readonly args: Json }
  | ({
      readonly type: "tool.execute";
      readonly tool_id: string;
      readonly tool: string;
      readonly args: Json;
      readonly payload: Json;
      readonly max_attempts: number;
      readonly recovery: Recovery;
      /** Of a later run: why the body starts again. */
      readonly cause?: ResumeCause;
    } & OfRun)
  | ({ readonly type: "tool.cancel" } & OfRun)
  | ({ readonly type: "step.run"; readonly key: string; readonly recovery: StepRecovery } & OfRun)
  | ({
      readonly type: "step.answer";
      readonly key: string;
      /** Its place in the log, and the event that holds the value. */
      readonly seq: number;
      readonly index: number;
      readonly value: number;
    } & OfRun)
  | ({ readonly type: "host.request"; readonly key: string; readonly name: string; readonly input: Json } & OfRun)
  | { readonly type: "outcome.resolve"; readonly call: CallRef; readonly cause: UnknownCause; readonly tool: string }
  | { readonly type: "result.project"; readonly call: CallRef; readonly tool: string; readonly output: ToolCallOutput }
  | { readonly type: "external.cancel"; readonly call: CallRef; readonly key: string }
  | ({ readonly type: "replies.record"; readonly call: CallRef; readonly key: string } & Replies)
  /** `flow`: how it ended, where the request is one. */
  | ({ readonly type: "reply"; readonly request: string; readonly flow?: FlowEnd } & Replies)
  | {
      readonly type: "observe";
      readonly what: "call_started" | "call_completed" | "call_settled_late" | "call_parked";
      readonly call: CallRef;
      readonly tool: string;
      readonly call_id: string;
      readonly args: Json;
      readonly output?: ToolCallOutput;
      readonly duration_ms?: number;
    }
  /** A lambda is to be applied to a text; `target` is the name that the input was found by, or the input itself. */
  | {
      readonly type: "lambda.apply";
      readonly request: string;
      readonly id: string;
      readonly name: string;
      readonly target: string;
      readonly input: string;
    }
  | { readonly type: "flow.observe"; readonly request: string; readonly event: FlowExecutionEvent }
  | ({ readonly type: "send" } & Sending)
  | {
      readonly type: "message.answer";
      readonly to: string;
      readonly link: number;
      readonly number: number;
      readonly outcome: Outcome;
    }
  /** A session is told of its process's event. */
  | { readonly type: "wake.deliver"; readonly key: string; readonly wake: WakeDelivery }
  /** The tools of a captured environment are to be published in its process's scope. */
  | { readonly type: "env.load"; readonly process: string; readonly env_ref: string }
  /** Somebody else runs the process, as its registration says, and appends the event that ends it. */
  | { readonly type: "engine.run"; readonly process: string }
  | { readonly type: "engine.cancel"; readonly process: string }
  | {
      readonly type: "process.observe";
      readonly what: "registered" | "event" | "ended";
      readonly process: string;
      readonly sequence: number;
      readonly event_type?: string;
      readonly payload?: Json;
      readonly state?: ProcessState;
    }
  /** A run wants, or gives back, its place among those of the worker. */
  | { readonly type: "permit.take"; readonly run: string }
  | { readonly type: "permit.release"; readonly run: string }
  /** Whoever asked for a run is told. */
  | { readonly type: "spawn.answer"; readonly run: string; readonly answer: SpawnAnswer }
  /** The two files of a run's attempt are to be written, from all that it reported. */
  | {
      readonly type: "artifacts.write";
      readonly process: string;
      readonly run: string;
      readonly attempt: number;
      readonly outcome: RunOutcome;
    }
  /** A session is told; by a schedule as if its user spoke. */
  | { readonly type: "session.tell"; readonly key: string; readonly text: string; readonly schedule?: string }
  | {
      readonly type: "task.observe";
      readonly what: "created" | "updated" | "message_sent" | "message_received";
      readonly task: Task;
    }
  | { readonly type: "run.observe"; readonly process: string; readonly attempt: number }
  /** When a schedule fires next after a time, and how often at the most. */
  | {
      readonly type: "schedule.next";
      readonly schedule: string;
      readonly cron_expression: string;
      readonly timezone: string;
      readonly after: number;
    }
  /** Whoever asked for a schedule is told. */
  | { readonly type: "schedule.answer"; readonly schedule: string; readonly answer: ScheduleAnswer }
  /** A monitor's tool is to be tried. */
  | {
      readonly type: "probe.run";
      readonly schedule: string;
      readonly fire: number;
      readonly tool: string;
      readonly arguments: Json;
    }
  /** All that a deleted session held have said what becomes of them: those that live on, and nobody has, or another. */
  | {
      readonly type: "deletion.report";
      readonly orphaned: readonly string[];
      readonly preserved: readonly string[];
    };
export type CommandType = Command["type"];

export interface Duty {
  readonly performed: "at_once" | "durable" | "when_leased";
  readonly afterLoss: "again" | "counted" | "never" | "when_asked" | "until_acknowledged" | "from_the_log" | "parked";
  readonly answeredBy: string | undefined;
}

const answered = (by: string): Duty => ({ performed: "at_once", afterLoss: "again", answeredBy: by });
const toBody: Duty = { performed: "at_once", afterLoss: "from_the_log", answeredBy: undefined };
const untilAcked = (by: string): Duty => ({ performed: "durable", afterLoss: "until_acknowledged", answeredBy: by });

/** The duty of each command by its type; that of `tool.execute` and `step.run` hangs on their recovery. */
export const duties: { readonly [T in Exclude<CommandType, "tool.execute" | "step.run">]: Duty } = {
  "hook.run": answered("hook.ran"),
  "args.check": answered("args.checked"),
  "tool.prepare": answered("call.prepared"),
  "result.project": answered("result.projected"),
  "outcome.resolve": answered("outcome.resolved"),
  "replies.record": answered("replies.recorded"),
  "tool.cancel": toBody,
  "step.answer": toBody,
  "host.request": { performed: "durable", afterLoss: "when_asked", answeredBy: "host.answered" },
  "external.cancel": untilAcked("external.cancel_acked"),
  reply: untilAcked("reply.acked"),
  send: untilAcked("message.answered"),
  "message.answer": { performed: "durable", afterLoss: "when_asked", answeredBy: undefined },
  "wake.deliver": untilAcked("wake.acked"),
  "env.load": answered("catalog.published"),
  "engine.run": untilAcked("process.event_appended"),
  "engine.cancel": untilAcked("process.event_appended"),
  "process.observe": { performed: "durable", afterLoss: "from_the_log", answeredBy: undefined },
  "deletion.report": { performed: "durable", afterLoss: "from_the_log", answeredBy: undefined },
  "lambda.apply": answered("lambda.applied"),
  "flow.observe": { performed: "durable", afterLoss: "from_the_log", answeredBy: undefined },
  "permit.take": answered("permit.answered"),
  "permit.release": { performed: "durable", afterLoss: "never", answeredBy: undefined },
  "spawn.answer": { performed: "durable", afterLoss: "when_asked", answeredBy: undefined },
  "artifacts.write": { performed: "durable", afterLoss: "again", answeredBy: "artifacts.written" },
  "session.tell": untilAcked("session.told"),
  "task.observe": { performed: "durable", afterLoss: "from_the_log", answeredBy: undefined },
  "run.observe": { performed: "durable", afterLoss: "from_the_log", answeredBy: undefined },
  "schedule.next": answered("schedule.planned"),
  "schedule.answer": { performed: "durable", afterLoss: "when_asked", answeredBy: undefined },
  "probe.run": { performed: "durable", afterLoss: "again", answeredBy: "probe.answered" },
  observe: { performed: "durable", afterLoss: "from_the_log", answeredBy: undefined },
};

export const executeDuty: { readonly [R in Recovery]: Duty } = {
  rerunnable: { performed: "at_once", afterLoss: "counted", answeredBy: "call.settled" },
  owner_bound: { performed: "durable", afterLoss: "never", answeredBy: "call.settled" },
  externally_owned: { performed: "durable", afterLoss: "parked", answeredBy: "call.settled" },
};

export const stepDuty: { readonly [R in StepRecovery]: Duty } = {
  idempotent: { performed: "when_leased", afterLoss: "when_asked", answeredBy: "step.settled" },
  again: { performed: "durable", afterLoss: "when_asked", answeredBy: "step.settled" },
  once: { performed: "durable", afterLoss: "never", answeredBy: "step.settled" },
};

/** What a driver owes a command. A body's later runs wait until `call.resumed` is durable, whatever the tool. */
export const dutyOf = (command: Command): Duty => {
  if (command.type === "step.run") return stepDuty[command.recovery];
  if (command.type !== "tool.execute") return duties[command.type];
  const duty = executeDuty[command.recovery];
  return command.run === 1 ? duty : { ...duty, performed: "durable" };
};

/** Commands are what the core asks of the world. They are derived, never recorded. What drivers owe them is in `duty.ts`. */
import type { Json, ToolCallOutput } from "@pawl/tool-value";
import type { RunOutcome } from "../run/finish.ts";
import type { SpawnAnswer } from "../run/model.ts";
import type { Task } from "../message/task.ts";
import type { ResumeCause, UnknownCause } from "../call/model.ts";
import type { Recovery } from "../catalog/model.ts";
import type { StepRecovery } from "../call/effect-model.ts";
import type { FlowExecutionEvent } from "../flow/event.ts";
import type { FlowEnd } from "../flow/model.ts";
import type { CallRef } from "./ids.ts";
import type { Outcome } from "../message/message.ts";
import type { Sending } from "../link/model.ts";
import type { ProcessState } from "../process/model.ts";
import type { WakeDelivery } from "../process/wake.ts";
import type { Reply } from "../request/model.ts";
import type { ScheduleAnswer } from "../schedule/model.ts";

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

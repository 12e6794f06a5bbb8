/**
 * What one concern tells another within a step. Concerns never call each other: they raise signals, and `core.ts`
 * routes them. Work that fans out is one signal with a list. `raises` is the routing graph; a test shows that no
 * signal comes back to itself, so that every step ends, and that nothing is raised that the graph does not say.
 */
import type { Json, Resolution, ToolCallOutput } from "@pawl/tool-value";
import type { NewTask, TaskUpdate } from "../message/task.ts";
import type { BatchParent } from "../call/batch-model.ts";
import type { EffectSpec, OpenEffect, SettledEffect } from "../call/effect-model.ts";
import type { FlowEnd, FlowSpec } from "../flow/model.ts";
import type { BatchRef, CallRef } from "./ids.ts";
import type { GrantedHandle, Message, Outcome, Said } from "../message/message.ts";
import type { WaitingMessage } from "../link/model.ts";
import type { ProcessAwaitOutput, ProcessStatus, TerminalState } from "../process/model.ts";
import type { Reply, RequestedCall } from "../request/model.ts";
import type { Waiter } from "../wait/model.ts";

/** A call to be made; one that is prepared already has what its tool made of it. */
export type NewCall = RequestedCall & { readonly prepared?: Json };

interface NewBatch {
  readonly request: string;
  /** In front of the call ids that a body made. */
  readonly prefix: string;
  readonly calls: readonly NewCall[];
}

type EndedStatus = Exclude<ProcessStatus, { readonly state: "running" }>;

export type Signal =
  | ({
      readonly type: "batch.create";
      readonly ref: BatchRef;
      readonly parent?: BatchParent;
      readonly step?: string;
    } & NewBatch)
  | ({ readonly type: "calls.create"; readonly batch: BatchRef } & NewBatch)
  /** The batch's next calls are to be prepared, up to the first that waits for the outside. */
  | { readonly type: "calls.prepare"; readonly batch: BatchRef }
  | { readonly type: "batch.prepared"; readonly batch: BatchRef; readonly count: number; readonly completed: number }
  /** The preparation that waited for the outside has ended. */
  | { readonly type: "preparation.ended"; readonly batch: BatchRef }
  /** A call took or left a slot, or was completed; or became ready after its batch was prepared. */
  | {
      readonly type: "call.moved";
      readonly batch: BatchRef;
      readonly occupied: number;
      readonly completed: number;
      readonly readied?: CallRef;
    }
  | { readonly type: "calls.launch"; readonly batch: BatchRef }
  /** What launches or a cancel did to a batch's counts. */
  | {
      readonly type: "batch.counted";
      readonly batch: BatchRef;
      readonly parallel: number;
      readonly serial: number;
      readonly occupied: number;
      readonly completed: number;
    }
  | { readonly type: "batch.triggered"; readonly batch: BatchRef; readonly occurrence: Json }
  /** With all batches below them. */
  | { readonly type: "batches.cancel"; readonly batches: readonly BatchRef[] }
  | { readonly type: "calls.cancel"; readonly batch: BatchRef; readonly calls: readonly CallRef[] }
  /** The options have changed: batches may launch more than they did. */
  | { readonly type: "batches.review" }
  | { readonly type: "batch.ended"; readonly batch: BatchRef }
  /** A body is over, or starts anew, while these of its effects are open. */
  | { readonly type: "call.left"; readonly call: CallRef; readonly effects: readonly OpenEffect[] }
  /** Batches of a body that is over end with it, and nobody is told. */
  | { readonly type: "calls.drop"; readonly batches: readonly BatchRef[] }
  | { readonly type: "calls.decide"; readonly tool: string }
  | { readonly type: "owners.lost"; readonly owners: "older" | readonly string[] }
  | {
      readonly type: "effect.end";
      readonly call: CallRef;
      readonly key: string;
      readonly status: SettledEffect["status"];
      readonly value: number;
      /** The effect that is meant, where another may have taken its key. */
      readonly requested?: number;
    }
  | { readonly type: "wait.open"; readonly key: string; readonly waiter: Waiter; readonly request: string }
  | { readonly type: "wait.leave"; readonly key: string; readonly waiter: Waiter }
  /** A call's end resolves its completion key, so that a late completion is told so. */
  | {
      readonly type: "wait.close";
      readonly key: string;
      readonly waiter: Waiter;
      readonly request: string;
      readonly resolution: Resolution;
    }
  | { readonly type: "pending.end"; readonly call: CallRef; readonly resolution: Resolution | "revoked" }
  /** The earliest deadline of a body's effects has passed. */
  | { readonly type: "effects.expire"; readonly call: CallRef }
  | { readonly type: "waits.forget"; readonly request: string; readonly keys: readonly string[] }
  /** Nobody may resolve these any more. */
  | { readonly type: "waits.revoke"; readonly keys: readonly string[] }
  /** A request holds a key that is resolved from within, before any of its calls waits there. */
  | { readonly type: "wait.claim"; readonly key: string; readonly request: string }
  /** A key is resolved from within. `isKept`: also where nobody holds it, for whoever comes. */
  | { readonly type: "wait.settle"; readonly key: string; readonly resolution: Resolution; readonly isKept: boolean }
  | ({ readonly type: "messages.send"; readonly to: string } & WaitingMessage)
  | {
      readonly type: "message.taken";
      readonly from: string;
      readonly message: Said;
      readonly invalid?: string;
      readonly known?: boolean;
    }
  | { readonly type: "message.judged"; readonly from: string; readonly outcome: Outcome }
  | { readonly type: "message.heard"; readonly to: string; readonly message: Message; readonly outcome: Outcome }
  /** `isNews`: the process does not know yet that the session has its handle. */
  | ({ readonly type: "handle.grant"; readonly isNews: boolean } & GrantedHandle)
  /** What a process said to a session that was deleted. */
  | {
      readonly type: "handle.released";
      readonly process: string;
      readonly fate: "orphaned" | "preserved" | "ended";
    }
  | { readonly type: "handle.ended"; readonly process: string; readonly state: TerminalState }
  /** A process runs its call as a request of its own. */
  | {
      readonly type: "request.open";
      readonly request: string;
      readonly hash: string;
      readonly executionScope: string;
      readonly calls: readonly NewCall[];
    }
  | ({ readonly type: "flow.start" } & FlowStart)
  | { readonly type: "flow.cancel"; readonly request: string }
  | {
      readonly type: "flow.ended";
      readonly request: string;
      readonly end: FlowEnd;
      readonly triggers: readonly Json[];
    }
  | { readonly type: "run.ended"; readonly replies: readonly Reply[] }
  | { readonly type: "tools.published" }
  | {
      readonly type: "process.emit";
      readonly call: CallRef;
      readonly key: string;
      readonly effect: Extract<EffectSpec, { readonly kind: "event" }>;
    }
  /** A body waits for a signal; and nobody does any more. */
  | { readonly type: "process.wait"; readonly key: string; readonly name: string; readonly ordinal: number }
  | { readonly type: "process.unwait"; readonly key: string }
  /** A process begins; `session`: the one that asked for it. */
  | { readonly type: "run.begin"; readonly session: string | undefined }
  /** The call of a background run is over. */
  | { readonly type: "run.finish"; readonly output: ToolCallOutput }
  /** The call of a background run has lost its owner. */
  | { readonly type: "run.lost" }
  /** The process of a background run was ended by someone else. */
  | { readonly type: "run.overtaken"; readonly status: EndedStatus }
  /** A background run is over with all that belongs to it. */
  | { readonly type: "process.finish"; readonly output: ProcessAwaitOutput }
  | {
      readonly type: "task.report";
      readonly from: string;
      readonly task: string;
      readonly run: string;
      readonly update: TaskUpdate;
    }
  /** The process of a task would not begin. */
  | { readonly type: "task.refused"; readonly process: string; readonly message: string }
  | { readonly type: "monitor.begin"; readonly schedule: string; readonly task: Omit<NewTask, "kind"> }
  | {
      readonly type: "monitor.fired";
      readonly schedule: string;
      readonly fire: number;
      readonly text: string;
      readonly isLast: boolean;
    }
  | { readonly type: "monitor.ended"; readonly schedule: string }
  | { readonly type: "schedule.end"; readonly schedule: string }
  | { readonly type: "schedules.end" };

/** What a flow is submitted with, under the request that it is. */
export interface FlowStart extends FlowSpec {
  readonly request: string;
  readonly bindings: { readonly [name: string]: string };
}

export type SignalType = Signal["type"];

/** Which signals the handler of each may raise. */
export const raises: { readonly [T in SignalType]: readonly SignalType[] } = {
  "batch.create": ["calls.create", "calls.prepare"],
  "calls.create": [],
  "calls.prepare": ["batch.prepared"],
  "batch.prepared": ["calls.launch", "batch.ended"],
  "preparation.ended": ["calls.prepare", "calls.launch", "batch.ended"],
  "call.moved": ["calls.launch", "batch.ended"],
  "calls.launch": ["batch.counted"],
  "batch.counted": ["batch.ended"],
  "batch.triggered": [],
  "batches.cancel": ["calls.cancel"],
  "calls.cancel": ["batch.counted", "call.left", "wait.close", "effect.end"],
  "batches.review": ["calls.launch"],
  "batch.ended": ["waits.forget", "run.ended"],
  "call.left": ["calls.drop", "wait.leave"],
  "calls.drop": ["wait.close"],
  "calls.decide": ["call.moved"],
  "owners.lost": ["call.moved", "call.left", "wait.open", "wait.close", "run.lost"],
  "effects.expire": ["wait.leave"],
  "effect.end": [],
  "wait.open": ["effect.end", "pending.end"],
  "wait.leave": ["process.unwait"],
  "wait.close": ["effect.end", "pending.end"],
  "pending.end": ["call.moved"],
  "waits.forget": [],
  "waits.revoke": ["effect.end", "pending.end"],
  "wait.claim": [],
  "wait.settle": ["effect.end", "pending.end"],
  "messages.send": [],
  "message.taken": [
    "message.judged",
    "messages.send",
    "wait.settle",
    "batches.cancel",
    "request.open",
    "handle.grant",
    "handle.ended",
    "run.begin",
    "run.finish",
    "run.overtaken",
    "task.report",
  ],
  "message.judged": [],
  "message.heard": ["handle.grant", "handle.released", "task.refused"],
  "handle.grant": ["messages.send"],
  "handle.released": [],
  "handle.ended": [],
  "request.open": ["batch.create"],
  "flow.start": ["batch.create", "flow.ended"],
  "flow.cancel": ["batches.cancel", "flow.ended"],
  "flow.ended": ["waits.forget"],
  "run.ended": ["messages.send", "run.finish"],
  "tools.published": ["request.open"],
  "process.emit": ["effect.end", "messages.send", "wait.settle", "batches.cancel", "run.finish", "run.overtaken"],
  "process.wait": [],
  "process.unwait": [],
  "run.begin": [],
  "run.finish": [],
  "run.lost": ["messages.send", "batches.cancel"],
  "run.overtaken": ["messages.send"],
  "process.finish": ["messages.send"],
  "task.report": [],
  "task.refused": [],
  "monitor.begin": [],
  "monitor.fired": [],
  "monitor.ended": [],
  "schedule.end": [],
  "schedules.end": [],
};

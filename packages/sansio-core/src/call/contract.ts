/** Signals that calls hear, and commands that they ask for. */
import type { Json, Resolution, ToolCallOutput } from "@pawl/tool-value";
import type { Recovery } from "../catalog/model.ts";
import type { ContinuedCall, OwnerEnd } from "../scope/model.ts";
import type { BatchRef, CallRef } from "../kernel/vocabulary.ts";
import type { NewCall, Replies } from "../request/model.ts";
import type { Deadlines } from "../kernel/deadline.ts";
import type { PersistentMap } from "../kernel/persistent-map.ts";
import type { Table } from "../kernel/table.ts";
import type { StickyDecision } from "./approval.ts";
import type { BatchParent, BatchRow } from "./batch.ts";
import type { OpenEffect, SettledEffect, StepRecovery } from "./effect/effect.ts";
import type { CallRow, ResumeCause, UnknownCause } from "./model.ts";

interface NewBatch {
  readonly request: string;
  /** In front of the call ids that a body made. */
  readonly prefix: string;
  readonly calls: readonly NewCall[];
}

/** Signals that calls, their batches and their effects hear. */
export type CallSignal =
  | ({
      readonly type: "batch.create";
      readonly ref: BatchRef;
      readonly parent?: BatchParent;
      readonly step?: string;
      readonly turn?: true;
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
  /** Changes of a batch's counts by launches or a cancel. */
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
  /** A body is over, or starts anew, while these of its effects are open. */
  | { readonly type: "call.left"; readonly call: CallRef; readonly effects: readonly OpenEffect[] }
  /** Batches of a body that is over end with it, and nobody is told. */
  | { readonly type: "calls.drop"; readonly batches: readonly BatchRef[] }
  | { readonly type: "calls.decide"; readonly tool: string }
  | { readonly type: "owners.lost"; readonly owners: "older" | readonly string[]; readonly went: OwnerEnd }
  /** Other versions of tools are there than before. */
  | { readonly type: "versions.changed" }
  | {
      readonly type: "effect.end";
      readonly call: CallRef;
      readonly key: string;
      readonly status: SettledEffect["status"];
      readonly value: number;
      /** The effect that is meant, where another may have taken its key. */
      readonly requested?: number;
    }
  /** `at`: the event that holds the resolution. */
  | {
      readonly type: "pending.end";
      readonly call: CallRef;
      readonly resolution: Resolution | "revoked";
      readonly at?: number;
    }
  /** A wait of the call's own was resolved before its body waited. */
  | { readonly type: "wait.kept"; readonly call: CallRef; readonly key: string }
  /** The scope has a later protocol. `continued`: calls with other arguments than those that their hash is of. */
  | { readonly type: "calls.upgraded"; readonly continued: readonly ContinuedCall[] }
  /** The earliest deadline of a body's effects has passed. */
  | { readonly type: "effects.expire"; readonly call: CallRef }
  /** A link has room for messages again; without a name, all may have. */
  | { readonly type: "link.freed"; readonly to?: string };

/** A crash in a row of crashes, and what follows from it. */
export interface Crash {
  /** So many in a row, with this one. */
  readonly count: number;
  /** The pause before the body runs again; absent: it does not by itself. */
  readonly resumes_in_ms?: number;
  /** The step that was open, the newest of them. */
  readonly step?: string;
}

interface OfRun {
  readonly call: CallRef;
  readonly attempt: number;
  readonly run: number;
}

/** Commands of calls. */
export type CallCommand =
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
      /** For a later run: why the body starts again. */
      readonly cause?: ResumeCause;
    } & OfRun)
  /** A place in the queue of the call's tool, for this attempt. */
  | { readonly type: "place.take"; readonly call: CallRef; readonly attempt: number }
  | ({ readonly type: "tool.cancel" } & OfRun)
  /** `try`: left out for the first. */
  | ({
      readonly type: "step.run";
      readonly key: string;
      readonly recovery: StepRecovery;
      readonly try?: number;
    } & OfRun)
  | ({
      readonly type: "step.answer";
      readonly key: string;
      /** Its place in the log, and the event that holds the value. */
      readonly seq: number;
      readonly index: number;
      readonly value: number;
    } & OfRun)
  /** A group of chunks is on record with this event. */
  | ({ readonly type: "stream.answer"; readonly key: string } & OfRun)
  | ({ readonly type: "host.request"; readonly key: string; readonly name: string; readonly input: Json } & OfRun)
  | { readonly type: "outcome.resolve"; readonly call: CallRef; readonly cause: UnknownCause; readonly tool: string }
  | { readonly type: "result.project"; readonly call: CallRef; readonly tool: string; readonly output: ToolCallOutput }
  | ({ readonly type: "replies.record"; readonly call: CallRef; readonly key: string } & Replies)
  | {
      readonly type: "observe";
      readonly what:
        | "call_started"
        | "call_completed"
        | "call_settled_late"
        | "call_parked"
        | "call_decided"
        | "call_crashed"
        | "call_unknown";
      readonly call: CallRef;
      readonly tool: string;
      readonly call_id: string;
      readonly args: Json;
      readonly output?: ToolCallOutput;
      /** Why the outcome is unknown, where it is. */
      readonly cause?: UnknownCause;
      readonly duration_ms?: number;
      readonly crash?: Crash;
      readonly decided?: Decided;
    };

/** The decision on a parked call, as observers are told. */
export interface Decided {
  readonly decision: "approved" | "rejected";
  readonly by: string;
}

/** Its rows in a state. */
export interface CallRows {
  readonly batches: Table<BatchRow>;
  readonly calls: Table<CallRow>;
  /** How many calls wait for a person's word. */
  readonly awaitingApproval: number;
  /** Decisions that hold for later calls, by the id of the tool. */
  readonly sticky: PersistentMap<string, StickyDecision>;
  readonly deadlines: Deadlines;
}

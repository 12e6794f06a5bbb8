/**
 * A call: one use of a tool, from the request to its completed output.
 *
 *   requested ─▶ preparing ─▶ [awaiting_approval] ─▶ ready ─▶ [queued] ─▶ running ─▶ finishing ─▶ completed
 *                 ▲    ▼                                          ▲       │ │ ▲
 *                [no_tool]                         [backing_off] ─┘◀──────┘ │ └── resuming ◀─ suspended
 *                                                   [no_executor]           ▼
 *                                                                   [pending] [unknown]
 *
 * Any phase before `finishing` may go to `finishing` (a failure, a cancel), or straight to `completed` where no hook
 * and no projection of the host's has a say.
 *
 * Invariants
 *   C1  a call belongs to one live batch, and its batch lists it
 *   C2  run and attempt start at 1; attempt never falls, nor does run within an attempt
 *   C3  a call is observed as started when it is launched, parked or completed, once; and as completed after that
 *   C4  settled effects are kept by key; an open effect's key is not among them
 *   C5  open effects stand in the order of their requests
 *   C6  between two attempts only steps that may run once are open
 *   C7  a call comes to `ready` through its approval where its tool requires it, by a sticky one, or by its tool's waiver
 *   C8  a call that was told to stop has no clean-up open, and its grace runs unless it, or what it called, cleans up
 *   C9  lives count from 1, one at a time; each begins with nothing remembered, and names an attempt that has begun
 *   C10  a suspended body has no work under way: no step of its attempt, no request that its host answers at once
 *   C11  a body waits for room in a link only while the link has none that is not kept for others, who run or are about to
 *   C12  a count of crashes grows by one at a time: of a body that ran, or of one that is resolved to run again
 *   C13  a body runs in no version that could not go on with its attempt, and no call is parked beside another version
 */
import type { Json, PendingCompletion, ToolCallOutput } from "@pawl/tool-value";
import type { PersistentMap } from "../kernel/persistent-map.ts";
import type { Tool } from "../catalog/model.ts";
import type { Deadline } from "../kernel/deadline.ts";
import type { Life } from "./life.ts";
import type { OpenEffect, SettledEffect } from "./effect/effect.ts";
import type { BatchRef, CallRef } from "../kernel/vocabulary.ts";
import type { NewCall } from "../request/model.ts";
import type { StreamRow } from "./effect/stream.ts";

/** The part of a call that never changes. */
export interface CallIdentity {
  readonly ref: CallRef;
  readonly request: string;
  readonly name: string;
  /** As the caller gave it: what wire records, observations and replies show. */
  readonly id: string;
  readonly batch: BatchRef;
  /** Its place in the batch. */
  readonly index: number;
  readonly born: number;
  readonly replay?: Json;
}

interface Base {
  readonly call: CallIdentity;
  /** The tool's name; its id, where it was asked for by id and is not known. */
  readonly tool: string;
  readonly args: Json;
  readonly observed: boolean;
}

/** Answers of `ctx.patched`, by name. */
export type Patches = { readonly [name: string]: boolean };

/** A version that could not go on with an attempt of a call. */
export interface FailedVersion {
  readonly version: string;
  readonly cause: ParkedCause;
}

/** The record of a body: what it has done and may still do, kept from its first run to its last. */
export interface BodyState {
  readonly manifest: Tool;
  readonly payload: Json;
  /** The hash of the arguments, where a person approved them. */
  readonly argsHash: string;
  readonly attempt: number;
  readonly run: number;
  readonly life: Life;
  /** Keys of waits that may name the call, or its life: those that do leave the state with it. */
  readonly waits: readonly string[];
  /** Resumes in a row without a new record; from protocol 2 on, crashes in a row. */
  readonly resumes: number;
  /** Something of it was recorded since it last started. Noted from protocol 2 on. */
  readonly hasRecord: boolean;
  readonly startedAt: number;
  readonly open: readonly OpenEffect[];
  readonly settled: PersistentMap<string, SettledEffect>;
  /** The streams of its steps, over all lives: the one that grew last stands last. */
  readonly streams: readonly StreamRow[];
  /** The version of the code that runs it, where that is known. */
  readonly version: string | undefined;
  /** Versions that this attempt is not begun with again. */
  readonly failed: readonly FailedVersion[];
  /** The answers of `ctx.patched`: they are the same in every run of this life. */
  readonly patches: Patches;
  /** The link in which room is kept for its next message, since it was woken for that. */
  readonly room?: string;
}

interface WithBody extends Base {
  readonly body: BodyState;
}

export type ResumeCause =
  | "owner_lost"
  | "suspended"
  | "continued"
  | "executor_back"
  | "run_again"
  | "cancelled"
  /** There is a version of its tool that this attempt was not tried with. */
  | "other_version";

/** A call was told to stop. */
export interface Stop {
  /** The event that told it. */
  readonly seq: number;
  /** Its body has not said yet that it has cleaned up. */
  readonly cleans: boolean;
  /** Then it is taken at its word; not before it, and what it has called, has cleaned up. */
  readonly due?: Deadline | undefined;
}

/** Another version of its tool may heal it: until then, or until somebody decides, the call is parked. */
export type ParkedCause = "crash_loop" | "diverged";
export type UnknownCause = "owner_lost" | ParkedCause;

export interface Approval {
  readonly argsHash: string;
  readonly payload: Json;
  /** A model's provider asks: nothing runs here, and the decision goes back to it. */
  readonly ofProvider?: boolean;
  /** A decision that came with edited arguments, while these are checked. */
  readonly edited?: { readonly args: Json; readonly by: string };
}

/** A body has a message for a link that is full; the event since which it waits gives it its turn. */
export interface RoomWanted {
  readonly to: string;
  readonly since: number;
}

export type CallRow =
  | (Base & {
      readonly phase: "requested";
      readonly byId: boolean;
      /** Set where a step has prepared its share of the batch: the next one goes on from this call. */
      readonly due?: Deadline | undefined;
    } & Pick<NewCall, "prepared" | "refused" | "asks">)
  | (Base & { readonly phase: "preparing"; readonly manifest: Tool; readonly waits: "hook" | "args" | "prepare" })
  /** Its tool is away. What it waited for is asked again when the tool is back; `due` is set until then. */
  | (Base & {
      readonly phase: "no_tool";
      readonly manifest: Tool;
      readonly waits: "args" | "prepare" | "launch";
      readonly payload: Json;
      readonly argsHash: string;
      readonly due: Deadline | undefined;
    })
  | (Base & {
      readonly phase: "awaiting_approval";
      readonly manifest: Tool;
      readonly approval: Approval;
      /** The body of an outcome that was unknown: it has one more run, once that is approved. */
      readonly body: BodyState | undefined;
      readonly due: Deadline | undefined;
    })
  | (Base & {
      readonly phase: "ready";
      readonly manifest: Tool;
      readonly payload: Json;
      readonly argsHash: string;
      /** Set where a step has launched its share of the batch: the next one goes on from this call. */
      readonly due?: Deadline | undefined;
    })
  /** Holds a slot of its batch, and waits for a place in the queue of its tool. */
  | (Base & {
      readonly phase: "queued";
      readonly manifest: Tool;
      readonly payload: Json;
      readonly argsHash: string;
      /** The scope time since which it waits: of equals the oldest has the first place. */
      readonly since: number;
    })
  | (WithBody & {
      readonly phase: "running";
      readonly owner: string;
      /** For a call that completes from outside: the key that it is parked on if its owner is lost. */
      readonly key: string | undefined;
      readonly cancelled: Stop | undefined;
      readonly due: Deadline | undefined;
    })
  | (WithBody & {
      readonly phase: "resuming";
      readonly cause: ResumeCause;
      /** The end of its pause. */
      readonly due: Deadline | undefined;
      /** Set where it runs again to clean up. */
      readonly cancelled: Stop | undefined;
    })
  | (WithBody & { readonly phase: "suspended"; readonly due: Deadline | undefined; readonly link?: RoomWanted })
  | (WithBody & { readonly phase: "no_executor"; readonly due: Deadline })
  /** Without a deadline its pause is over, and it waits for a place in the queue of its tool. */
  | (WithBody & { readonly phase: "backing_off"; readonly due: Deadline | undefined })
  | (WithBody & {
      readonly phase: "unknown";
      readonly cause: UnknownCause;
      /** When nobody need heal it any more: the call fails then. */
      readonly due: Deadline | undefined;
    })
  | (Base & {
      readonly phase: "pending";
      readonly key: string;
      readonly pending: PendingCompletion;
      readonly durationMs: number;
      readonly due: Deadline | undefined;
    })
  | (Base & {
      readonly phase: "finishing";
      readonly waits: "hook" | "projection";
      readonly output: ToolCallOutput;
      /** Why the outcome is unknown, where it is. Set from protocol 2 on. */
      readonly cause?: UnknownCause;
      readonly outputAt?: number;
      readonly durationMs: number;
    })
  | (Base & {
      readonly phase: "completed";
      readonly output: ToolCallOutput;
      readonly cause?: UnknownCause;
      /** The event that holds the output, where one does. Noted of the calls of a turn. */
      readonly outputAt?: number;
      readonly durationMs: number;
      readonly parts?: Json;
    });

export type CallPhase = CallRow["phase"];
export type CallIn<P extends CallPhase> = Extract<CallRow, { readonly phase: P }>;

/**
 * Why a scope stands where it stands: for each live call, and for all else that is not done, what it waits for, since
 * which event and until what time, and which events would move it. A pure function of the state: `why.ts`.
 *
 * Every live call has one reason; no reason names something that is not in the state; and what a reason says would
 * move its call does so. `test/why/law.test.ts` tries that on every state of many histories.
 */
import type { ResumeCause, UnknownCause } from "../call/model.ts";
import type { EffectKind, SelectMode, StepRecovery } from "../call/effect/effect.ts";
import type { BatchRef, CallRef, EventType } from "../kernel/vocabulary.ts";
import type { Message } from "../message/message.ts";
import type { Reached } from "../turn/budget.ts";
import type { FailureClass, ModelMode } from "../turn/event.ts";

/** An open effect of a body, and what would settle it. */
export type EffectWaits =
  /** `try`: the one that it has come to, where the first has failed. */
  | { readonly kind: "step"; readonly recovery: StepRecovery; readonly try?: number }
  | { readonly kind: "wait"; readonly wait: string }
  | { readonly kind: "batch"; readonly batch: BatchRef; readonly calls: readonly CallRef[] }
  /** `sent`: the message's place on its link; without one it waits until an older link to the same scope has closed. */
  | {
      readonly kind: "message";
      readonly to: string;
      readonly sent?: { readonly link: number; readonly number: number };
    }
  | { readonly kind: "select"; readonly mode: SelectMode; readonly keys: readonly string[] }
  /** `hash`: of its input. The answer names it, and the event that asked. `asksPerson`: the host waits for one. */
  | { readonly kind: "host" | "trigger"; readonly hash: string; readonly asksPerson?: true }
  | { readonly kind: "approval"; readonly title: string; readonly argsHash: string }
  | {
      readonly kind: Exclude<
        EffectKind,
        "approval" | "step" | "wait" | "batch" | "message" | "select" | "host" | "trigger"
      >;
    };

export interface EffectReason {
  readonly key: string;
  readonly what: EffectWaits;
  /** The event that asked for it. */
  readonly since: number;
  readonly until?: number;
  readonly movedBy: readonly EventType[];
}

interface Run {
  readonly attempt: number;
  readonly run: number;
}

/** The reason why a call stands where it stands. */
export type CallWaits =
  /** Calls are prepared one after the other: this one is being prepared. */
  | { readonly type: "turn_to_prepare"; readonly behind: CallRef }
  | { readonly type: "hook"; readonly phase: "before" | "after" }
  | { readonly type: "args_check"; readonly editedBy?: string }
  | { readonly type: "preparation" }
  | { readonly type: "approval"; readonly argsHash: string }
  /** A slot of its batch: until all are prepared, until fewer run at once, or until it is its turn among the serial. */
  | {
      readonly type: "slot";
      readonly batch: BatchRef;
      readonly because: "preparation" | "concurrency" | "serial";
      readonly behind: readonly CallRef[];
    }
  /** A place in the queue of its tool. How many stand before it, the store knows. */
  | { readonly type: "queue"; readonly queue: string }
  | ({ readonly type: "body"; readonly owner: string; readonly effects: readonly EffectReason[] } & Run)
  /** Told to stop, with its grace running. */
  | ({ readonly type: "stop"; readonly owner: string; readonly effects: readonly EffectReason[] } & Run)
  /** Told to stop, while it or a call below it cleans up. */
  | ({ readonly type: "clean_up"; readonly owner: string; readonly effects: readonly EffectReason[] } & Run)
  | ({ readonly type: "resume"; readonly cause: ResumeCause } & Run)
  /** After crashes: its owner was lost, this many times in a row without a new record. `step`: the one that was open. */
  | ({
      readonly type: "resume_pause";
      readonly cause: ResumeCause;
      readonly resumes: number;
      readonly step?: string;
    } & Run)
  /** `link`: it has a message for this scope, and the link is full. */
  | { readonly type: "suspended"; readonly effects: readonly EffectReason[]; readonly link?: string }
  | { readonly type: "executor"; readonly toolId: string }
  | { readonly type: "retry"; readonly attempt: number; readonly of: number }
  /**
   * `crashes`: so many in a row, of a call that crashes in a loop. `failed`: versions of its tool that could not go on
   * with it; another one does.
   */
  | {
      readonly type: "resolver";
      readonly cause: UnknownCause;
      readonly crashes?: number;
      readonly step?: string;
      readonly failed?: readonly string[];
    }
  | { readonly type: "completion"; readonly key: string }
  | { readonly type: "projection" }
  /** Has its output, and waits for the rest of its batch; or, without a rest, for the batch's replies. */
  | { readonly type: "batch"; readonly batch: BatchRef; readonly calls: readonly CallRef[] };

/** Work that is no call, and what it waits for. */
export type OtherWaits =
  | { readonly type: "move"; readonly to: string; readonly nonce: string }
  | { readonly type: "moved" }
  | { readonly type: "reply"; readonly request: string }
  /** A flow stands at a lambda that is to be applied. */
  | { readonly type: "lambda"; readonly request: string; readonly id: string; readonly name: string }
  | { readonly type: "external_cancel"; readonly key: string }
  /** A session is to be told of a task, or by a schedule what to do. */
  | { readonly type: "telling"; readonly key: string }
  | { readonly type: "permit"; readonly run: string }
  | { readonly type: "artifacts"; readonly process: string; readonly attempt: number }
  | { readonly type: "schedule"; readonly schedule: string }
  /** When it fires next, after this time, is asked of the driver. */
  | { readonly type: "planning"; readonly schedule: string; readonly after: number }
  | { readonly type: "probe"; readonly schedule: string; readonly fire: number }
  | { readonly type: "wake"; readonly key: string }
  | {
      readonly type: "message";
      readonly to: string;
      readonly link: number;
      readonly number: number;
      readonly message: Message["type"];
    }
  | { readonly type: "environment"; readonly process: string; readonly envRef: string }
  | { readonly type: "engine"; readonly process: string; readonly isCancelled: boolean }
  | { readonly type: "signal"; readonly process: string; readonly name: string; readonly key: string }
  | TurnWaits;

interface OfAttempt {
  readonly request: string;
  readonly n: number;
  readonly attempt: number;
}
interface OfModel extends OfAttempt {
  readonly mode: ModelMode;
  readonly provider: string;
  readonly model: string;
}

/** Turns, and the reasons why they wait. */
export type TurnWaits =
  | { readonly type: "turn_queued"; readonly request: string; readonly behind: string; readonly joins: boolean }
  | { readonly type: "agent"; readonly request: string; readonly agent: string }
  /** `units`: how much of the answer is on record. */
  | ({ readonly type: "model"; readonly units: number } & OfModel)
  | ({ readonly type: "model_stop" } & OfModel)
  | ({ readonly type: "model_pause"; readonly cause: FailureClass | "owner_lost" } & OfAttempt)
  | ({ readonly type: "model_outcome" } & OfAttempt)
  | { readonly type: "turn_calls"; readonly request: string; readonly n: number }
  | { readonly type: "turn_check"; readonly request: string; readonly n: number }
  | { readonly type: "budget"; readonly request: string; readonly ask: number; readonly reached: readonly Reached[] };

interface When {
  /** The event since which it waits, where the state says so. */
  readonly since?: number;
  /** Scope time at which waiting ends by itself. */
  readonly until?: number;
  /** The events that would move it. */
  readonly movedBy: readonly EventType[];
}

export interface CallReason extends When {
  readonly call: CallRef;
  readonly tool: string;
  readonly phase: string;
  /** The life of its body, from the second on: `continueAs` begins another. */
  readonly life?: number;
  readonly what: CallWaits;
}

export interface OtherReason extends When {
  readonly what: OtherWaits;
}

export interface Why {
  /** One a live call, oldest first. */
  readonly calls: readonly CallReason[];
  /** Other work that is not done, oldest first. */
  readonly others: readonly OtherReason[];
}

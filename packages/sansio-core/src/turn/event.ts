/** The events of turns: what hosts, people and models say; and the signals by which other concerns tell them of calls and processes. */
import type { Json } from "@pawl/tool-value";
import type { AgentSpec, OutputForm } from "./agent.ts";
import type { Amounts, Limits, Used } from "../kernel/limit.ts";
import type { BatchRef } from "../kernel/vocabulary.ts";
import type { Origin } from "../link/model.ts";
import type { MessageOf } from "../message/message.ts";
import type { ProcessInput } from "../process/model.ts";
import type { Price, Usage } from "./budget.ts";
import type { Message, Meta, Piece } from "./message.ts";

export const failureClasses = [
  "rate_limit",
  "overloaded",
  "transport",
  "timeout",
  "provider",
  "empty",
  "invalid_answer",
  "unknown",
  "context_too_long",
  "content_filter",
  "quota",
  "auth",
  "invalid_request",
  "not_stored",
  "not_found",
] as const;
export type FailureClass = (typeof failureClasses)[number];

export const finishReasons = [
  "stop",
  "length",
  "tool-calls",
  "content-filter",
  "error",
  "interrupted",
  "other",
] as const;
export interface Finish {
  readonly reason: (typeof finishReasons)[number];
  readonly raw?: string;
}

export type ModelKind = "answer" | "compact";
export type ModelMode = "fresh" | "fetch" | "continue";
export type WhenBusy = "queue" | "join" | "interrupt" | "replace" | "refuse";

/** Says whether the text of an answer fits the form that is wanted. */
export type FormVerdict = { readonly valid: true } | { readonly invalid: string };

/** The prompt of an attempt: how many messages, and the hash of it. */
export interface PromptMark {
  readonly messages: number;
  readonly hash: string;
}

interface OfAttempt {
  readonly request: string;
  readonly n: number;
  readonly attempt: number;
}

export type ResolvedOutcome =
  | { readonly type: "again" }
  | { readonly type: "give_up" }
  | {
      readonly type: "answer";
      readonly pieces: readonly Piece[];
      readonly finish: Finish;
      readonly usage: Usage;
      readonly verdict?: FormVerdict;
    };

export type CheckVerdict = { readonly type: "go_on" } | { readonly type: "end"; readonly reason: string };

export type TurnEvent =
  | { readonly type: "agent.published"; readonly agent: string; readonly hash: string; readonly spec: AgentSpec }
  | { readonly type: "agent.missing"; readonly agent: string }
  | {
      readonly type: "prices.published";
      readonly currency: string;
      readonly prices: { readonly [model: string]: Price };
      readonly by?: string;
    }
  | {
      readonly type: "limits.set";
      readonly limits: { readonly turn?: Limits; readonly session?: Limits };
      readonly by?: string;
    }
  | {
      readonly type: "frame.opened";
      readonly frame: string;
      readonly agent?: string;
      readonly messages: readonly Message[];
      readonly current: boolean;
      readonly by?: string;
    }
  | {
      readonly type: "turn.submitted";
      readonly request: string;
      readonly hash: string;
      readonly agent?: string;
      readonly messages: readonly Message[];
      readonly when_busy: WhenBusy;
      readonly limits?: Limits;
      readonly output?: OutputForm;
      readonly execution_scope?: string;
      readonly by?: string;
      readonly traceparent?: string;
    }
  | ({ readonly type: "model.identified"; readonly provider_id: string } & OfAttempt)
  /** Pieces of an answer since the last such event of the attempt. */
  | ({ readonly type: "model.streamed"; readonly pieces: readonly Piece[] } & OfAttempt)
  /** `streamed`: how many `model.streamed` the attempt has; `pieces`: the rest. */
  | ({
      readonly type: "model.answered";
      readonly streamed?: number;
      readonly pieces: readonly Piece[];
      readonly finish: Finish;
      readonly usage: Usage;
      readonly provider_id?: string;
      readonly model_id?: string;
      readonly meta?: Meta;
      readonly warnings?: readonly Json[];
      readonly verdict?: FormVerdict;
      readonly prompt: PromptMark;
      readonly ms: number;
    } & OfAttempt)
  | ({
      readonly type: "model.failed";
      readonly class: FailureClass;
      readonly message: string;
      readonly retry_after_ms?: number;
      readonly pieces?: readonly Piece[];
      readonly usage?: Usage;
      readonly provider_id?: string;
      readonly prompt: PromptMark;
      readonly ms: number;
    } & OfAttempt)
  | ({ readonly type: "model.stopped"; readonly pieces: readonly Piece[]; readonly usage?: Usage } & OfAttempt)
  | ({ readonly type: "model.late"; readonly usage?: Usage; readonly provider_id?: string } & OfAttempt)
  | ({ readonly type: "model.resolved"; readonly outcome: ResolvedOutcome; readonly by?: string } & OfAttempt)
  | {
      readonly type: "turn.checked";
      readonly request: string;
      readonly n: number;
      readonly verdict: CheckVerdict;
      readonly messages?: readonly Message[];
    }
  /** A person's word on a budget that is reached. */
  | {
      readonly type: "budget.decided";
      readonly ask: number;
      readonly decision: "extend" | "stop";
      readonly add?: { readonly turn?: Amounts; readonly session?: Amounts };
      readonly by: string;
      readonly decision_id?: string;
    }
  | { readonly type: "compaction.requested"; readonly request?: string; readonly by?: string };

type SessionTurn = Extract<ProcessInput, { readonly type: "session_turn" }>;

/** Signals that turns hear. */
export type TurnSignal =
  /** The batch of an answer's calls has ended; its rows are there still. */
  | { readonly type: "turn.called"; readonly batch: BatchRef; readonly request: string }
  /** A person changed the arguments of a call. */
  | { readonly type: "turn.edited"; readonly request: string; readonly name: string; readonly args: Json }
  | { readonly type: "turn.cancel"; readonly request: string }
  /** The owner of the open attempt is gone. */
  | { readonly type: "turn.lost"; readonly isCrash: boolean }
  /** The session is deleted. */
  | { readonly type: "turns.end" }
  /** A process is a turn of an agent. `limits`: the grant of whoever started it. */
  | { readonly type: "turn.begin"; readonly input: SessionTurn; readonly hash: string; readonly limits?: Limits }
  /** A body starts a sub-agent. */
  | {
      readonly type: "agent.start";
      readonly to: string;
      readonly message: MessageOf<"process.start">;
      readonly origin: Origin;
    }
  /** A sub-agent is over, and has used so much. */
  | { readonly type: "agent.returned"; readonly process: string; readonly used: Used }
  | { readonly type: "agent.raised"; readonly process: string; readonly add: Amounts }
  /** A turn is over: the next one begins. Deferred until no other signal is left. */
  | { readonly type: "turns.next" };

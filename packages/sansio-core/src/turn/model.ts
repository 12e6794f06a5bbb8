/**
 * A turn: it asks a model, runs the tools that the answer asks for, and asks again, until it ends. A turn is a request: it has
 * a reply, which waits until it is acknowledged. One turn at a time runs in a session; the others wait.
 *
 *   queued ─▶ [loading] ─▶ (checkpoint) ─▶ asking ─▶ (answer) ─▶ calling ─▶ (checkpoint) ─▶ …
 *                             │  ▲          │  ▲  └▶ backing_off │ unknown
 *                             ▼  │          ▼  │
 *                    parked │ checking     stopping                any phase ─▶ ended: its request has its reply
 *
 * A checkpoint comes before each new model call, in the step that made it possible: limits, messages that wait to join, the
 * host's check, compaction, and then the question. A model call is asked for under a key that changes only when a failure is
 * on record; so a provider that honours keys answers a repeated question once. Tools start when the answer is on record.
 *
 * Invariants
 *   TN1  at most one turn runs; if there is none, no turn waits
 *   TN2  a turn is a running request of its name, without a batch of a request's; it ends once, and its reply says how
 *   TN3  a turn that asks, pauses, stops or is unknown has a model call; one in `calling` has a live batch that names it
 *   TN4  `n` grows by one a model call, `attempt` by one an attempt; a key has counted fewer failures than attempts
 *   TN5  a call of an answer belongs to the batch of a turn in `calling`: it is made after the answer is on record
 *   TN6  a cancelled turn neither asks nor waits to ask: it stops an attempt, or waits for its batch
 *   TN7  a turn whose agent is loaded stands on a route of it, and so does its model call
 *   MC1  the open attempt is of the current epoch
 *   MC2  usage is counted at most once an attempt: the open one is not among those that may still be heard of late
 *   MC3  the events of an attempt that are on record are named in order
 */
import type { Json, ToolCallOutput, ToolFailure } from "@pawl/tool-value";
import type { Due } from "../kernel/deadline.ts";
import type { PersistentMap } from "../kernel/persistent-map.ts";
import type { AgentRow } from "./agent.ts";
import type { Limits } from "../kernel/limit.ts";
import type { Grant, Price, Reached, Used } from "./budget.ts";
import type { IgnoredControl } from "./control.ts";
import type { FailureClass, ModelKind, ModelMode } from "./event.ts";
import type { Frame, Range, ResultRef } from "./frame.ts";
import type { Piece } from "./message.ts";

/** How a turn ended, as whoever submitted it is told. */
export type TurnEnd = { readonly turn: string; readonly frame: string; readonly used: Used } & Ending;

export type Ending =
  | {
      readonly status: "finished";
      readonly text: string;
      readonly value?: Json;
      /** The call whose control gave the value. */
      readonly by?: string;
      /** A limit was reached, and this is its wrap-up. */
      readonly limited?: boolean;
    }
  | {
      readonly status: "stopped";
      readonly because: StoppedBecause;
      readonly text?: string;
      readonly reached?: readonly Reached[];
      readonly reason?: string;
    }
  | {
      readonly status: "failed";
      readonly code: string;
      readonly message?: string;
      readonly by?: string;
      readonly failure?: ToolFailure;
      readonly text?: string;
    }
  | { readonly status: "joined"; readonly into: string };

export type StoppedBecause = "cancelled" | "budget" | "incomplete" | "content_filter" | "loop" | "check";

/** A model call, with its open attempt or the one that comes next. */
export interface ModelCall {
  readonly kind: ModelKind;
  readonly n: number;
  readonly attempt: number;
  readonly mode: ModelMode;
  /** Failures on record, and losses that were gone on with: the key's number. */
  readonly failures: number;
  readonly route: number;
  /** Failures on this route. */
  readonly onRoute: number;
  /** Crashes in a row. */
  readonly losses: number;
  /** As the provider names the answer that it makes under this key. */
  readonly providerId?: string;
  /** The events that hold what is on record of this attempt, and what they hold. */
  readonly streamed: readonly number[];
  readonly pieces: readonly Piece[];
  /** The text that the answer goes on from, and the events that hold it. */
  readonly prefix: string;
  readonly prefixed: readonly number[];
  /** Tools are off. */
  readonly withoutTools?: true;
  /** How much the answer may say, in tokens. */
  readonly cap?: number;
  /** The range that a compaction replaces; `needed`: there is no answer without it. */
  readonly range?: Range & { readonly needed?: true };
  readonly epoch: number;
  /** The event that asked for the attempt. */
  readonly asked: number;
}

/** An attempt that may still be heard of: it was lost, or stopped in silence. */
export interface Unheard {
  readonly request: string;
  readonly n: number;
  readonly attempt: number;
  readonly model: string;
}

/** How a turn will end unless the host's check says otherwise. */
export type PendingEnd = Extract<Ending, { readonly status: "finished" }>;

export type Phase =
  | { readonly type: "loading"; readonly agent: string }
  | { readonly type: "asking"; readonly call: ModelCall }
  | {
      readonly type: "backing_off";
      readonly call: ModelCall;
      readonly cause: FailureClass | "owner_lost";
      readonly due: Due;
    }
  | { readonly type: "unknown"; readonly call: ModelCall }
  | {
      readonly type: "calling";
      readonly n: number;
      /** The text of the answer that asked for the calls. */
      readonly text: string;
      /** Arguments that a person changed, by call name. */
      readonly edited: { readonly [name: string]: Json };
    }
  /** `end`: given before an end. */
  | { readonly type: "checking"; readonly n: number; readonly end?: PendingEnd }
  | {
      readonly type: "parked";
      readonly ask: number;
      readonly reached: readonly Reached[];
      readonly since: number;
      /** The model call that it was parked in, between two attempts. */
      readonly call?: ModelCall;
      /** How it ends where the messages that were to join it are gone by then. */
      readonly end?: PendingEnd;
    }
  | { readonly type: "stopping"; readonly call: ModelCall; readonly for: "cancel" | "interrupt"; readonly due: Due };

export type PhaseIn<T extends Phase["type"]> = Extract<Phase, { readonly type: T }>;

interface Submitted {
  readonly request: string;
  /** The event that submitted it, or put it into its phase. */
  readonly born: number;
  readonly agentName?: string;
  /** Its own limits. */
  readonly own?: Limits;
  /** Answers are to have a form, and are repaired so often. */
  readonly repairs?: number;
}

/** A turn that waits: in its place in the queue, to join the one that runs, or to be the next. */
export interface WaitingTurn extends Submitted {
  readonly place: "queue" | "join" | "next";
}

export interface RunningTurn extends Submitted {
  readonly phase: Phase;
  /** The event with which it came to its phase. */
  readonly since: number;
  readonly startedAt: number;
  /** How long it was parked. */
  readonly parkedMs: number;
  readonly frame: string;
  /** The version of its agent that it began with; absent while it is loaded. */
  readonly agent?: AgentRow;
  readonly n: number;
  readonly used: Used;
  readonly limits: Limits;
  readonly route: number;
  /** Notes on answers that did not fit, and answers in a row that were cut with calls in them. */
  readonly repaired: number;
  readonly cuts: number;
  readonly switches: number;
  /** The calls of the last answer, and how often in a row they were asked for. */
  readonly loop?: { readonly calls: string; readonly count: number };
  /** Results came since the last answer. */
  readonly hasResults: boolean;
  readonly wrapped: boolean;
  /** The next answer comes after a compaction that a context which was too long made necessary. */
  readonly compacted?: true;
  readonly cancelled: boolean;
  /** Occurrences that its calls triggered. */
  readonly triggers: readonly Json[];
}

/** The conversation of a session. */
export interface Conversation {
  readonly running: RunningTurn | undefined;
  /** In the order in which they came; what replaces the running turn stands first. */
  readonly waiting: readonly WaitingTurn[];
  readonly frames: PersistentMap<string, Frame>;
  readonly frame: string;
  /** The newest version of each agent, by name. */
  readonly agents: PersistentMap<string, AgentRow>;
  readonly prices: PersistentMap<string, Price>;
  readonly limits: { readonly turn: Limits; readonly session: Limits };
  /** Used by turns that are over, and by attempts that were heard of late. */
  readonly used: Used;
  readonly grants: readonly Grant[];
  /** Questions about budgets are numbered from 1. */
  readonly asks: number;
  /** The oldest leave first. */
  readonly unheard: readonly Unheard[];
}

export interface TurnRows {
  readonly conversation: Conversation;
}

/** How many attempts are kept in mind that may still be heard of. */
export const maxUnheard = 100;

/** A call of a batch that has ended. */
export interface EndedCall {
  readonly name: string;
  readonly tool: string;
  readonly output: ToolCallOutput;
  readonly ref: ResultRef;
}

export type Observation =
  | { readonly what: "turn_started" }
  | { readonly what: "messages_taken"; readonly turns: readonly string[] }
  | { readonly what: "model_asked"; readonly n: number; readonly attempt: number }
  | { readonly what: "model_reset"; readonly n: number; readonly attempt: number; readonly keep: number }
  | { readonly what: "model_answered"; readonly n: number; readonly attempt: number }
  | {
      readonly what: "model_failed";
      readonly n: number;
      readonly class: FailureClass;
      readonly next: "again" | "route" | "compact" | "end";
    }
  | { readonly what: "turn_parked"; readonly ask: number; readonly reached: readonly Reached[] }
  | { readonly what: "turn_resumed"; readonly ask: number }
  | { readonly what: "controls_ignored"; readonly controls: readonly IgnoredControl[] }
  | { readonly what: "frame_switched"; readonly frame: string; readonly task: string }
  | { readonly what: "compacted"; readonly upto: number; readonly kept: number }
  | { readonly what: "turn_ended"; readonly end: TurnEnd };

/** Commands of turns. */
export type TurnCommand =
  | { readonly type: "agent.load"; readonly agent: string }
  | {
      readonly type: "model.ask";
      readonly request: string;
      readonly n: number;
      readonly attempt: number;
      readonly kind: ModelKind;
      readonly key: string;
      readonly frame: string;
      /** The event that published the agent, and the route among its routes. */
      readonly agent: number;
      readonly route: number;
      readonly mode: ModelMode;
      readonly provider_id?: string;
      readonly tools: boolean;
      readonly max_output_tokens?: number;
    }
  | { readonly type: "model.stop"; readonly request: string; readonly n: number; readonly attempt: number }
  | {
      readonly type: "model.resolve";
      readonly request: string;
      readonly n: number;
      readonly attempt: number;
      readonly cause: "owner_lost";
      readonly provider_id?: string;
    }
  | {
      readonly type: "turn.check";
      readonly request: string;
      readonly n: number;
      readonly at: "before_model" | "before_end";
    }
  | ({ readonly type: "turn.observe"; readonly request: string } & Observation);

/** The questions of clients about the turns of a session, without their ids and scopes. */
import { ApprovalWanted } from "@pawl/runtime";
import type { ShownPrompt, TurnCursor } from "@pawl/runtime/driver";
import type { EventOf } from "@pawl/sansio-core";
import { type OutputForm, type Reached, type TurnMessage, type WhenBusy, turnCodecs } from "@pawl/sansio-core/driver";
import { type Codec, array, json, named, oneOf, optional, record, string, tagged, u64 } from "@pawl/tool-value";

/** More of what is limited, for the turn or for the session. */
export type BudgetMore = NonNullable<EventOf<"budget.decided">["add"]>;
type Limits = NonNullable<EventOf<"turn.submitted">["limits"]>;

export type TurnQuestion =
  /** Says something to the session's agent. */
  | {
      readonly type: "turn";
      readonly request: string;
      readonly messages: readonly TurnMessage[];
      readonly agent?: string;
      readonly when_busy?: WhenBusy;
      readonly limits?: Limits;
      readonly output?: OutputForm;
      readonly traceparent?: string;
    }
  /** Reads the answers of a turn from a place on; at most `window` frames are sent ahead of `seen`. */
  | {
      readonly type: "read_turn";
      readonly request: string;
      readonly from?: TurnCursor;
      readonly window: number;
    }
  | { readonly type: "budget" }
  /** Decides on a budget that is reached: question `ask` of the session. */
  | {
      readonly type: "decide_budget";
      readonly ask: number;
      readonly decision: "extend" | "stop";
      readonly add?: BudgetMore;
      readonly decision_id?: string;
      /** The sub-agent of the session whose budget it is. */
      readonly sub_agent?: string;
    }
  /** Asks what the model is told in the n-th model call of a turn, or its last; without a turn, in the next one. */
  | { readonly type: "prompt"; readonly request?: string; readonly n?: number }
  /** Has the history summarized before the next answer. */
  | { readonly type: "compact" };

const place = record<TurnCursor>("a place in a turn", { n: u64, attempt: u64, at: u64 });
const more = record<BudgetMore>("more of a budget", {
  turn: optional(turnCodecs.amounts),
  session: optional(turnCodecs.amounts),
});

/** The fields of these questions, besides those of every question. */
export const turnFields = {
  turn: {
    request: string,
    messages: array(turnCodecs.message),
    agent: optional(string),
    when_busy: optional(turnCodecs.whenBusy),
    limits: optional(turnCodecs.limits),
    output: optional(turnCodecs.output),
    traceparent: optional(string),
  },
  read_turn: { request: string, from: optional(place), window: u64 },
  decide_budget: {
    ask: u64,
    decision: oneOf<"extend" | "stop">("a decision", "extend", "stop"),
    add: optional(more),
    decision_id: optional(string),
    sub_agent: optional(string),
  },
  prompt: { request: optional(string), n: optional(u64) },
} as const;

/** The messages, as the host has made them. */
const made = <A>(): Codec<A> => json as unknown as Codec<A>;

/** A prompt, as people are shown it. */
export const ShownPromptCodec: Codec<ShownPrompt> = record<ShownPrompt>("a prompt", {
  request: optional(string),
  n: optional(u64),
  attempt: optional(u64),
  agent: string,
  provider: string,
  model: string,
  settings: json,
  messages: made<ShownPrompt["messages"]>(),
  tools: made<ShownPrompt["tools"]>(),
  toolChoice: named("tool_choice", json),
  output: json,
  hash: string,
});

/** What a sub-agent waits for a person with. */
export type PendingBelow =
  | { readonly kind: "call"; readonly sub_agent: string; readonly approval: ApprovalWanted }
  | { readonly kind: "budget"; readonly sub_agent: string; readonly ask: number; readonly reached: readonly Reached[] }
  | { readonly kind: "elsewhere"; readonly sub_agent: string; readonly count: number; readonly address?: string };

export const PendingBelowCodec: Codec<PendingBelow> = tagged<PendingBelow, "kind">("a decision", "kind", {
  call: { sub_agent: string, approval: ApprovalWanted },
  budget: { sub_agent: string, ask: u64, reached: array(turnCodecs.reached) },
  elsewhere: { sub_agent: string, count: u64, address: optional(string) },
});

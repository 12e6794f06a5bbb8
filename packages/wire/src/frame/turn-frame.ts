/** The questions of clients about the turns of a session, without their ids and scopes. */
import type { TurnCursor } from "@pawl/runtime/driver";
import type { EventOf } from "@pawl/sansio-core";
import { type OutputForm, type TurnMessage, type WhenBusy, turnCodecs } from "@pawl/sansio-core/driver";
import { array, oneOf, optional, record, string, u64 } from "@pawl/tool-value";

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
    }
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
  },
} as const;

/** The signals by which other concerns tell turns what happens to their calls, and to the process that one of them is. */
import type { Json } from "@pawl/tool-value";
import type { Amounts, Limits, Used } from "../kernel/limit.ts";
import type { BatchRef } from "../kernel/vocabulary.ts";
import type { Origin } from "../link/model.ts";
import type { MessageOf } from "../message/message.ts";
import type { ProcessInput } from "../process/model.ts";

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

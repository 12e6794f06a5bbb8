/** The frames from a host to a client: answers to questions by their `id`, and the items of subscriptions. */
import { type About, ApprovalWanted, Cursor, type Frame, type Reply, RequestStatus } from "@pawl/runtime";
import {
  FrameCodec,
  MoveAnswer,
  type MovePart,
  type Offer,
  type OfferedRun,
  ReplyCodec,
  Resolved,
  ScopeAwaiting,
  type Settled,
  type BudgetStatus,
  type ShownPrompt,
  StreamFrame,
  TurnFrame,
} from "@pawl/runtime/driver";
import { type TurnEnd, turnCodecs } from "@pawl/sansio-core/driver";
import { type Codec, type Json, array, json, oneOf, optional, record, string, tagged, u64 } from "@pawl/tool-value";

import { type PendingBelow, PendingBelowCodec, ShownPromptCodec } from "./turn-frame.ts";

export interface HostError {
  /** The id of the question; missing if the frame could not be read that far. */
  readonly id?: number;
  readonly code: string;
  readonly message: string;
  /** Set if the question may succeed later: the pause before it is asked again. */
  readonly retry_after_ms?: number;
  /** The address of the host that the scope lives with. */
  readonly address?: string;
}

interface ReceiverFields {
  /** The number that the receiver's `move_answer` names. */
  readonly n: number;
  readonly receiver: string;
}

export type HostFrame =
  | {
      readonly type: "welcome";
      readonly protocol: number;
      readonly by: string;
      readonly heartbeat_ms: number;
      readonly max_message_bytes: number;
      readonly max_in_flight: number;
      readonly expires_at: number;
    }
  | { readonly type: "pong"; readonly n: number }
  | { readonly type: "done"; readonly id: number }
  | { readonly type: "opened"; readonly id: number; readonly seq: number }
  | {
      readonly type: "replied";
      readonly id: number;
      readonly replies: readonly Reply[];
      readonly triggers?: readonly Json[];
    }
  | { readonly type: "value"; readonly id: number; readonly value?: Json }
  | ({ readonly type: "described"; readonly id: number } & About)
  | { readonly type: "requests_listed"; readonly id: number; readonly requests: readonly RequestStatus[] }
  | {
      readonly type: "approvals_wanted";
      readonly id: number;
      readonly approvals: readonly ApprovalWanted[];
      readonly below?: readonly PendingBelow[];
    }
  | { readonly type: "scopes_awaiting"; readonly id: number; readonly scopes: readonly ScopeAwaiting[] }
  | { readonly type: "resolved"; readonly id: number; readonly outcome: Resolved }
  | {
      readonly type: "observed";
      readonly id: number;
      readonly cursor: number;
      readonly at: number;
      /** As the log has it. A client hands it on: who looks into it reads it with `EventCodec`. */
      readonly event: Json;
    }
  /** Confirms a watch. From this cursor on, whatever is missed is told as a gap. */
  | { readonly type: "watching"; readonly id: number; readonly cursor: Cursor }
  /** Carries frame number `n` of a watch, counted from 1. */
  | { readonly type: "watched"; readonly id: number; readonly n: number; readonly frame: Frame }
  /** Carries frame number `n` of a stream that is read, counted from 1. */
  | { readonly type: "streamed"; readonly id: number; readonly n: number; readonly frame: StreamFrame }
  | { readonly type: "turned"; readonly id: number; readonly turn: TurnEnd }
  /** Carries frame number `n` of a turn that is read, counted from 1. */
  | { readonly type: "turn_read"; readonly id: number; readonly n: number; readonly frame: TurnFrame }
  | ({ readonly type: "budget_told"; readonly id: number } & BudgetStatus)
  | { readonly type: "prompted"; readonly id: number; readonly prompt: ShownPrompt }
  | ({ readonly type: "offer"; readonly executor: string } & Offer)
  | ({ readonly type: "cancelled"; readonly executor: string } & OfferedRun)
  | { readonly type: "settled"; readonly id: number; readonly outcome: Settled }
  | { readonly type: "move_answered"; readonly id: number; readonly answer: MoveAnswer }
  /** Confirms a receiver, with the address to move scopes to. */
  | { readonly type: "receiving"; readonly id: number; readonly address: string }
  | ({ readonly type: "move_part" } & ReceiverFields & MovePart)
  | ({ readonly type: "decline_move"; readonly scope: string; readonly nonce: string } & ReceiverFields)
  | ({ readonly type: "error" } & HostError);

const levels = record<BudgetStatus["limits"]>("limits", { turn: turnCodecs.limits, session: turnCodecs.limits });
const parked = record<NonNullable<BudgetStatus["parked"]>>("a turn that waits", {
  ask: u64,
  reached: array(turnCodecs.reached),
});
const receiverFields = { n: u64, receiver: string, scope: string, nonce: string } as const;
const runFields = { scope: string, call: string, attempt: u64, run: u64 } as const;

export const HostFrame: Codec<HostFrame> = tagged<HostFrame, "type">("host frame", "type", {
  welcome: {
    protocol: u64,
    by: string,
    heartbeat_ms: u64,
    max_message_bytes: u64,
    max_in_flight: u64,
    expires_at: u64,
  },
  pong: { n: u64 },
  done: { id: u64 },
  opened: { id: u64, seq: u64 },
  replied: { id: u64, replies: array(ReplyCodec), triggers: optional(array(json)) },
  value: { id: u64, value: optional(json) },
  described: { id: u64, title: optional(string), tags: array(string) },
  requests_listed: { id: u64, requests: array(RequestStatus) },
  approvals_wanted: { id: u64, approvals: array(ApprovalWanted), below: optional(array(PendingBelowCodec)) },
  scopes_awaiting: { id: u64, scopes: array(ScopeAwaiting) },
  resolved: { id: u64, outcome: Resolved },
  observed: { id: u64, cursor: u64, at: u64, event: json },
  watching: { id: u64, cursor: Cursor },
  watched: { id: u64, n: u64, frame: FrameCodec },
  streamed: { id: u64, n: u64, frame: StreamFrame },
  turned: { id: u64, turn: turnCodecs.end },
  turn_read: { id: u64, n: u64, frame: TurnFrame },
  budget_told: { id: u64, used: turnCodecs.used, limits: levels, turn: optional(string), parked: optional(parked) },
  prompted: { id: u64, prompt: ShownPromptCodec },
  offer: {
    executor: string,
    ...runFields,
    tool_id: string,
    tool: string,
    args: json,
    payload: json,
    completion_key: optional(string),
  },
  cancelled: { executor: string, ...runFields },
  settled: { id: u64, outcome: oneOf<Settled>("an outcome", "accepted", "too_late") },
  move_answered: { id: u64, answer: MoveAnswer },
  receiving: { id: u64, address: string },
  move_part: { ...receiverFields, part: u64, parts: u64, text: string },
  decline_move: receiverFields,
  error: { id: optional(u64), code: string, message: string, retry_after_ms: optional(u64), address: optional(string) },
});

/** The reasons for which a host closes a connection. Codes from 4000 on are for applications. */
export const closeCodes = {
  unsupported_protocol: 4000,
  unauthorized: 4001,
  token_expired: 4002,
  hello_expected: 4003,
  too_many_bad_frames: 4007,
  slow_reader: 4008,
  going_away: 1001,
} as const;

export type CloseReason = keyof typeof closeCodes;

/** Returns true for a reason that would repeat with the same client and token. */
export const isFinal = (code: number): boolean =>
  code === closeCodes.unsupported_protocol || code === closeCodes.unauthorized;

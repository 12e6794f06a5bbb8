/**
 * The frames from a client to a host: one JSON object each, a tagged union on `type`. A question has an `id` of the
 * client's choice, and its answer carries the same `id`. The protocol is described in docs/host-protocol.md.
 */
import { type CallOfRequest, Cursor } from "@pawl/runtime";
import type { Tool } from "@pawl/sansio-core";
import {
  type BodiesAtMove,
  CallOfRequestCodec,
  MoveAnswer,
  type Stickiness,
  type ProgressSaid,
  progressFields,
} from "@pawl/runtime/driver";
import {
  type Codec,
  type Json,
  Resolution,
  ToolCallOutput,
  array,
  boolean,
  json,
  oneOf,
  optional,
  string,
  tagged,
  u64,
} from "@pawl/tool-value";
import { type TurnQuestion, turnFields } from "./turn-frame.ts";

/** The version of the protocol. A host refuses a client of any other version. */
export const protocolVersion = 1;

type Availability = Tool["availability"];

interface QuestionFields {
  readonly id: number;
  readonly scope: string;
}

interface Repeatable {
  /** Set if the question may have been sent before: its answer can be lost with a connection. */
  readonly again?: boolean;
}
interface DecisionFields extends QuestionFields, Repeatable {
  readonly call: string;
  readonly hash: string;
  readonly sticky?: Stickiness;
  /** The sub-agent of the session whose call it is, by the name of its process. */
  readonly sub_agent?: string;
  /** The client's own name for the decision: a repeat counts once. */
  readonly decision_id?: string;
}
interface ResolutionFields extends QuestionFields {
  readonly resolution: Resolution;
  /** The client's own name for the resolution: a repeat counts once. */
  readonly resolution_id?: string;
}
interface RunFields {
  readonly executor: string;
  readonly scope: string;
  readonly call: string;
  readonly attempt: number;
  readonly run: number;
}

export type ClientFrame =
  | { readonly type: "hello"; readonly protocol: number; readonly token: string }
  | { readonly type: "ping"; readonly n: number }
  | ({ readonly type: "open" } & QuestionFields)
  | ({
      readonly type: "call";
      readonly request: string;
      readonly calls: readonly CallOfRequest[];
      readonly execution_scope?: string;
      readonly traceparent?: string;
    } & QuestionFields)
  | ({ readonly type: "replies"; readonly request: string } & QuestionFields)
  | ({ readonly type: "acknowledge"; readonly request: string } & QuestionFields)
  | ({ readonly type: "status"; readonly request: string } & QuestionFields)
  | ({ readonly type: "store_get"; readonly key: string } & QuestionFields)
  /** Without a value the key is removed. */
  | ({ readonly type: "store_set"; readonly key: string; readonly value?: Json } & QuestionFields)
  | ({ readonly type: "about" } & QuestionFields)
  | ({ readonly type: "describe"; readonly title?: string; readonly tags?: readonly string[] } & QuestionFields)
  /** Makes tools available or not in this session; without an availability that is taken back. */
  | ({
      readonly type: "set_availability";
      readonly tools: readonly string[];
      readonly availability?: Availability;
    } & QuestionFields)
  /** Lists the requests that were submitted after an event, oldest first. */
  | ({ readonly type: "requests"; readonly after?: number; readonly limit?: number } & QuestionFields)
  | ({ readonly type: "resolve"; readonly token: string } & ResolutionFields)
  | ({ readonly type: "resolve_by_id"; readonly key: string } & ResolutionFields)
  | ({ readonly type: "approve"; readonly args?: Json } & DecisionFields)
  | ({ readonly type: "reject"; readonly reason: string } & DecisionFields)
  /** `deep`: with what the sub-agents of the session wait for, at any depth. */
  | ({ readonly type: "approvals"; readonly deep?: boolean } & QuestionFields)
  /** Lists the scopes that wait for approvals, by name: those that begin with `scope`, after the name `after`. */
  | ({ readonly type: "awaiting_approval"; readonly after?: string; readonly limit?: number } & QuestionFields)
  | ({ readonly type: "cancel_request"; readonly request: string } & QuestionFields & Repeatable)
  | ({ readonly type: "cancel_call"; readonly call: string } & QuestionFields & Repeatable)
  /** Signals the process of the scope `process:<id>`. A repeat under the same `signal_id` counts once. */
  | ({
      readonly type: "signal";
      readonly name: string;
      readonly payload: Json;
      readonly signal_id: string;
    } & QuestionFields)
  /** Moves the scope to another host. */
  | ({
      readonly type: "move";
      readonly to: string;
      readonly bodies?: BodiesAtMove;
      readonly within_ms?: number;
    } & QuestionFields)
  /** Sends one part of a scope that moves to this host. */
  | ({
      readonly type: "move_part";
      readonly nonce: string;
      readonly part: number;
      readonly parts: number;
      readonly text: string;
    } & QuestionFields)
  | ({ readonly type: "decline_move"; readonly nonce: string } & QuestionFields)
  /** Lets scopes move to the client's own store; `name` belongs to that store for ever. */
  | { readonly type: "receive"; readonly id: number; readonly name: string }
  /** Answers frame `n` to a receiver; `answer` is missing if the store failed. */
  | { readonly type: "move_answer"; readonly n: number; readonly answer?: MoveAnswer }
  /** Subscribes to the events after a cursor; at most `window` of them are sent ahead of `seen`. */
  | ({ readonly type: "observe"; readonly after: number; readonly window: number } & QuestionFields)
  /** Subscribes to observations, after a cursor or from now on; at most `window` are sent ahead of `seen`. */
  | ({ readonly type: "watch"; readonly from?: Cursor; readonly window: number } & QuestionFields)
  /**
   * Reads a stream of a call. `from` counts chunks, and asks for recorded ones alone; with the `attempt` that said the last of
   * them it is the cursor of a reader that is shown what is not recorded too. At most `window` frames are sent ahead of `seen`.
   */
  | ({
      readonly type: "stream";
      readonly call: string;
      readonly name: string;
      readonly from?: number;
      readonly attempt?: number;
      readonly window: number;
    } & QuestionFields)
  | (TurnQuestion & QuestionFields)
  | { readonly type: "seen"; readonly id: number; readonly cursor: number }
  | { readonly type: "unobserve"; readonly id: number }
  /**
   * Offers to run these tools, in the scopes that the token names. `farewell`: the executor leaves for good, and gives back
   * what it has not ended.
   */
  | {
      readonly type: "execute";
      readonly id: number;
      readonly executor: string;
      readonly tools: readonly string[];
      readonly farewell?: boolean;
    }
  /** Reports the progress of a run; has no answer. */
  | ({ readonly type: "progress" } & ProgressSaid & RunFields)
  | ({
      readonly type: "settle";
      readonly output: ToolCallOutput;
      readonly duration_ms: number;
    } & QuestionFields &
      RunFields);

export type Question = Extract<ClientFrame, QuestionFields>;
export type QuestionType = Question["type"];

const questionFields = { id: u64, scope: string } as const;
const again = optional(boolean);
const resolutionFields = { ...questionFields, resolution: Resolution, resolution_id: optional(string) } as const;
const runFields = { executor: string, scope: string, call: string, attempt: u64, run: u64 } as const;
const decisionFields = {
  ...questionFields,
  again,
  decision_id: optional(string),
  call: string,
  hash: string,
  sticky: optional(oneOf<Stickiness>("a stickiness", "later", "parked_too")),
  sub_agent: optional(string),
} as const;

export const ClientFrame: Codec<ClientFrame> = tagged<ClientFrame, "type">("client frame", "type", {
  hello: { protocol: u64, token: string },
  ping: { n: u64 },
  open: questionFields,
  call: {
    ...questionFields,
    request: string,
    calls: array(CallOfRequestCodec),
    execution_scope: optional(string),
    traceparent: optional(string),
  },
  replies: { ...questionFields, request: string },
  acknowledge: { ...questionFields, request: string },
  status: { ...questionFields, request: string },
  store_get: { ...questionFields, key: string },
  store_set: { ...questionFields, key: string, value: optional(json) },
  about: questionFields,
  describe: { ...questionFields, title: optional(string), tags: optional(array(string)) },
  set_availability: {
    ...questionFields,
    tools: array(string),
    availability: optional(oneOf<Availability>("an availability", "off", "searchable", "callable", "showcased")),
  },
  requests: { ...questionFields, after: optional(u64), limit: optional(u64) },
  resolve: { ...resolutionFields, token: string },
  resolve_by_id: { ...resolutionFields, key: string },
  approve: { ...decisionFields, args: optional(json) },
  reject: { ...decisionFields, reason: string },
  approvals: { ...questionFields, deep: optional(boolean) },
  awaiting_approval: { ...questionFields, after: optional(string), limit: optional(u64) },
  cancel_request: { ...questionFields, request: string, again },
  cancel_call: { ...questionFields, call: string, again },
  signal: { ...questionFields, name: string, payload: json, signal_id: string },
  move: {
    ...questionFields,
    to: string,
    bodies: optional(oneOf<BodiesAtMove>("a choice for running bodies", "finish", "record", "lost")),
    within_ms: optional(u64),
  },
  move_part: { ...questionFields, nonce: string, part: u64, parts: u64, text: string },
  decline_move: { ...questionFields, nonce: string },
  receive: { id: u64, name: string },
  move_answer: { n: u64, answer: optional(MoveAnswer) },
  observe: { ...questionFields, after: u64, window: u64 },
  watch: { ...questionFields, from: optional(Cursor), window: u64 },
  stream: {
    ...questionFields,
    call: string,
    name: string,
    from: optional(u64),
    attempt: optional(u64),
    window: u64,
  },
  turn: { ...questionFields, ...turnFields.turn },
  read_turn: { ...questionFields, ...turnFields.read_turn },
  budget: questionFields,
  prompt: { ...questionFields, ...turnFields.prompt },
  decide_budget: { ...questionFields, ...turnFields.decide_budget },
  compact: questionFields,
  seen: { id: u64, cursor: u64 },
  unobserve: { id: u64 },
  execute: { id: u64, executor: string, tools: array(string), farewell: optional(boolean) },
  progress: { ...runFields, ...progressFields },
  settle: { ...questionFields, ...runFields, output: ToolCallOutput, duration_ms: u64 },
});

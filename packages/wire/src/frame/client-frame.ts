/**
 * What a client says to a host: one JSON text a frame, told apart by `type`. `id` is the client's own number for what
 * it waits for; the answer carries it. The whole of the protocol is in docs/host-protocol.md.
 */
import { type BodiesAtMove, Cursor, MoveAnswer, type Stickiness } from "@pawl/runtime";
import { type RequestedCall, RequestedCallCodec } from "@pawl/sansio-core";
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

/** The version of the protocol. A host refuses a client of another one. */
export const protocolVersion = 1;

interface Asked {
  readonly id: number;
  readonly scope: string;
}
/** What may be said twice, as its answer can be lost with a connection. */
interface Repeatable {
  /** It may have been said before. */
  readonly again?: boolean;
}
interface Decided extends Asked, Repeatable {
  readonly call: string;
  readonly hash: string;
  readonly sticky?: Stickiness;
  /** The client's own name for the decision. */
  readonly decision_id?: string;
}
interface Resolving extends Asked {
  readonly resolution: Resolution;
  /** The client's own name for the resolution. */
  readonly resolution_id?: string;
}
interface OfRun {
  readonly executor: string;
  readonly scope: string;
  readonly call: string;
  readonly attempt: number;
  readonly run: number;
}

export type ClientFrame =
  | { readonly type: "hello"; readonly protocol: number; readonly token: string }
  | { readonly type: "ping"; readonly n: number }
  | ({ readonly type: "open" } & Asked)
  | ({
      readonly type: "call";
      readonly request: string;
      readonly calls: readonly RequestedCall[];
      readonly execution_scope?: string;
      readonly traceparent?: string;
    } & Asked)
  | ({ readonly type: "replies"; readonly request: string } & Asked)
  | ({ readonly type: "acknowledge"; readonly request: string } & Asked)
  | ({ readonly type: "resolve"; readonly token: string } & Resolving)
  | ({ readonly type: "resolve_by_id"; readonly key: string } & Resolving)
  | ({ readonly type: "approve"; readonly args?: Json } & Decided)
  | ({ readonly type: "reject"; readonly reason: string } & Decided)
  | ({ readonly type: "approvals" } & Asked)
  /** Of all scopes whose names begin with `scope`, those that wait for approvals: after one, by name. */
  | ({ readonly type: "awaiting_approval"; readonly after?: string; readonly limit?: number } & Asked)
  | ({ readonly type: "cancel_request"; readonly request: string } & Asked & Repeatable)
  | ({ readonly type: "cancel_call"; readonly call: string } & Asked & Repeatable)
  /** To a process: the scope is `process:<id>`. Twice under one `signal_id` is once. */
  | ({ readonly type: "signal"; readonly name: string; readonly payload: Json; readonly signal_id: string } & Asked)
  /** The scope is to live with another host. */
  | ({
      readonly type: "move";
      readonly to: string;
      readonly bodies?: BodiesAtMove;
      readonly within_ms?: number;
    } & Asked)
  /** A piece of a scope that moves here. */
  | ({
      readonly type: "move_part";
      readonly nonce: string;
      readonly part: number;
      readonly parts: number;
      readonly text: string;
    } & Asked)
  | ({ readonly type: "decline_move"; readonly nonce: string } & Asked)
  /** Scopes may move to this client, which keeps them in a store of its own: `name` is that store's, for ever. */
  | { readonly type: "receive"; readonly id: number; readonly name: string }
  /** To what the host says to a receiver, by its number; without an answer where the store could not say. */
  | { readonly type: "move_answer"; readonly n: number; readonly answer?: MoveAnswer }
  /** Events after a cursor, at most `window` of them ahead of what was seen. */
  | ({ readonly type: "observe"; readonly after: number; readonly window: number } & Asked)
  /** What happens in a scope, after a cursor or from now on, at most `window` frames ahead of what was seen. */
  | ({ readonly type: "watch"; readonly from?: Cursor; readonly window: number } & Asked)
  | { readonly type: "seen"; readonly id: number; readonly cursor: number }
  | { readonly type: "unobserve"; readonly id: number }
  /** An executor runs these tools in the scopes that its token names. */
  | { readonly type: "execute"; readonly id: number; readonly executor: string; readonly tools: readonly string[] }
  /** What an executor says of a run while it lasts; nobody answers. */
  | ({ readonly type: "progress"; readonly text: string; readonly kind: string } & OfRun)
  | ({
      readonly type: "settle";
      readonly output: ToolCallOutput;
      readonly duration_ms: number;
    } & Asked &
      OfRun);

export type Question = Extract<ClientFrame, Asked>;
export type QuestionType = Question["type"];

const asked = { id: u64, scope: string } as const;
const again = optional(boolean);
const resolving = { ...asked, resolution: Resolution, resolution_id: optional(string) } as const;
const ofRun = { executor: string, scope: string, call: string, attempt: u64, run: u64 } as const;
const decided = {
  ...asked,
  again,
  decision_id: optional(string),
  call: string,
  hash: string,
  sticky: optional(oneOf<Stickiness>("a stickiness", "later", "parked_too")),
} as const;

export const ClientFrame: Codec<ClientFrame> = tagged<ClientFrame, "type">("client frame", "type", {
  hello: { protocol: u64, token: string },
  ping: { n: u64 },
  open: asked,
  call: {
    ...asked,
    request: string,
    calls: array(RequestedCallCodec),
    execution_scope: optional(string),
    traceparent: optional(string),
  },
  replies: { ...asked, request: string },
  acknowledge: { ...asked, request: string },
  resolve: { ...resolving, token: string },
  resolve_by_id: { ...resolving, key: string },
  approve: { ...decided, args: optional(json) },
  reject: { ...decided, reason: string },
  approvals: asked,
  awaiting_approval: { ...asked, after: optional(string), limit: optional(u64) },
  cancel_request: { ...asked, request: string, again },
  cancel_call: { ...asked, call: string, again },
  signal: { ...asked, name: string, payload: json, signal_id: string },
  move: {
    ...asked,
    to: string,
    bodies: optional(oneOf<BodiesAtMove>("what becomes of bodies", "finish", "record", "lost")),
    within_ms: optional(u64),
  },
  move_part: { ...asked, nonce: string, part: u64, parts: u64, text: string },
  decline_move: { ...asked, nonce: string },
  receive: { id: u64, name: string },
  move_answer: { n: u64, answer: optional(MoveAnswer) },
  observe: { ...asked, after: u64, window: u64 },
  watch: { ...asked, from: optional(Cursor), window: u64 },
  seen: { id: u64, cursor: u64 },
  unobserve: { id: u64 },
  execute: { id: u64, executor: string, tools: array(string) },
  progress: { ...ofRun, text: string, kind: string },
  settle: { ...asked, ...ofRun, output: ToolCallOutput, duration_ms: u64 },
});

/**
 * What a client says to a host: one JSON text a frame, told apart by `type`. `id` is the client's own number for what
 * it waits for; the answer carries it. The whole of the protocol is in docs/host-protocol.md.
 */
import type { Stickiness } from "@pawl/runtime";
import { type RequestedCall, RequestedCallCodec } from "@pawl/sansio-core";
import {
  type Codec,
  type Json,
  Resolution,
  ToolCallOutput,
  array,
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
interface Decided extends Asked {
  readonly call: string;
  readonly hash: string;
  readonly sticky?: Stickiness;
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
    } & Asked)
  | ({ readonly type: "replies"; readonly request: string } & Asked)
  | ({ readonly type: "acknowledge"; readonly request: string } & Asked)
  | ({ readonly type: "resolve"; readonly token: string; readonly resolution: Resolution } & Asked)
  | ({ readonly type: "resolve_by_id"; readonly key: string; readonly resolution: Resolution } & Asked)
  | ({ readonly type: "approve"; readonly args?: Json } & Decided)
  | ({ readonly type: "reject"; readonly reason: string } & Decided)
  | ({ readonly type: "cancel_request"; readonly request: string } & Asked)
  | ({ readonly type: "cancel_call"; readonly call: string } & Asked)
  /** To a process: the scope is `process:<id>`. Twice under one `signal_id` is once. */
  | ({ readonly type: "signal"; readonly name: string; readonly payload: Json; readonly signal_id: string } & Asked)
  /** A piece of a scope that moves here. */
  | ({
      readonly type: "move_part";
      readonly nonce: string;
      readonly part: number;
      readonly parts: number;
      readonly text: string;
    } & Asked)
  | ({ readonly type: "decline_move"; readonly nonce: string } & Asked)
  /** Events after a cursor, at most `window` of them ahead of what was seen. */
  | ({ readonly type: "observe"; readonly after: number; readonly window: number } & Asked)
  | { readonly type: "seen"; readonly id: number; readonly cursor: number }
  | { readonly type: "unobserve"; readonly id: number }
  /** An executor runs these tools in the scopes that its token names. */
  | { readonly type: "execute"; readonly id: number; readonly executor: string; readonly tools: readonly string[] }
  | ({
      readonly type: "settle";
      readonly executor: string;
      readonly call: string;
      readonly attempt: number;
      readonly run: number;
      readonly output: ToolCallOutput;
      readonly duration_ms: number;
    } & Asked);

export type Question = Extract<ClientFrame, Asked>;
export type QuestionType = Question["type"];

const asked = { id: u64, scope: string } as const;
const decided = {
  ...asked,
  call: string,
  hash: string,
  sticky: optional(oneOf<Stickiness>("a stickiness", "later", "parked_too")),
} as const;

export const ClientFrame: Codec<ClientFrame> = tagged<ClientFrame, "type">("client frame", "type", {
  hello: { protocol: u64, token: string },
  ping: { n: u64 },
  open: asked,
  call: { ...asked, request: string, calls: array(RequestedCallCodec), execution_scope: optional(string) },
  replies: { ...asked, request: string },
  acknowledge: { ...asked, request: string },
  resolve: { ...asked, token: string, resolution: Resolution },
  resolve_by_id: { ...asked, key: string, resolution: Resolution },
  approve: { ...decided, args: optional(json) },
  reject: { ...decided, reason: string },
  cancel_request: { ...asked, request: string },
  cancel_call: { ...asked, call: string },
  signal: { ...asked, name: string, payload: json, signal_id: string },
  move_part: { ...asked, nonce: string, part: u64, parts: u64, text: string },
  decline_move: { ...asked, nonce: string },
  observe: { ...asked, after: u64, window: u64 },
  seen: { id: u64, cursor: u64 },
  unobserve: { id: u64 },
  execute: { id: u64, executor: string, tools: array(string) },
  settle: {
    ...asked,
    executor: string,
    call: string,
    attempt: u64,
    run: u64,
    output: ToolCallOutput,
    duration_ms: u64,
  },
});

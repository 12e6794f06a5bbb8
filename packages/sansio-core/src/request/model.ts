/**
 * A request: calls, or a flow, that a host submits under an id of its own, and the reply that waits until it is
 * acknowledged.
 *
 *   submitted ─▶ running ─▶ replying ─▶ acknowledged (it leaves the state; its id goes to the finished index)
 *
 * Invariants
 *   R1  a running request has a live batch of its name, or is a flow or a turn; a replying one has none of them
 *   R2  the calls of a request have distinct, non-empty ids
 *   R3  a reply lists one entry a call, in the order of the request
 */
import type { BatchRef, CallRef, EventOf, State } from "../kernel/vocabulary.ts";
import type { Table } from "../kernel/table.ts";
import {
  type Codec,
  type Json,
  boolean,
  json,
  oneOf,
  optional,
  record,
  string,
  ToolCallOutput,
  u64,
} from "@pawl/tool-value";
import type { FlowEnd } from "../flow/model.ts";
import type { TurnEnd } from "../turn/model.ts";
import type { BatchRow } from "../call/batch.ts";
import type { CallRow, UnknownCause } from "../call/model.ts";
import { Invariant } from "../kernel/error.ts";
import { hasRule } from "../kernel/protocol.ts";

export interface RequestedCall {
  readonly id: string;
  /** A tool's name; or its id, if `by_id`. */
  readonly tool: string;
  readonly by_id?: boolean;
  readonly args: Json;
  readonly replay?: Json;
}

/** A call to be made; one that is prepared already has what its tool made of it. */
export type NewCall = RequestedCall & {
  readonly prepared?: Json;
  /** Its output, where it is not to be made. */
  readonly refused?: ToolCallOutput;
  /** The name of a provider's request for approval: a person decides, and nothing runs. */
  readonly asks?: string;
};

/** How one call ended, as its caller is told. */
export interface Reply {
  readonly call_id: string;
  readonly tool: string;
  readonly args: Json;
  readonly output: ToolCallOutput;
  /** Why its outcome is unknown, where it is. From protocol 2 on. */
  readonly cause?: UnknownCause;
  readonly duration_ms: number;
  /** Made by the host's projection for the model, where there is one. */
  readonly parts?: Json;
  readonly replay?: Json;
}

/** The replies of a batch, one for each call in order, and the occurrences that its calls triggered. */
export interface Replies {
  readonly replies: readonly Reply[];
  readonly triggers: readonly Json[];
}

interface Base {
  readonly request: string;
  /** The hash of its calls: the same id under another hash is a conflict. */
  readonly hash: string;
  readonly born: number;
  /** The base of every key of its calls. */
  readonly executionScope: string;
  /** Its calls come before those of a lower one in the queues of tools. Left out where it is 0. */
  readonly priority?: number;
}

/** Replies as a caller is given them: with the occurrences of the request, where there are any. */
export type GivenReplies = readonly Reply[] & { readonly triggers?: readonly Json[] };

/** Gives a caller its replies. */
export const givenReplies = ({ replies, triggers }: Replies): GivenReplies =>
  triggers.length === 0 ? replies : Object.assign([...replies], { triggers });

export type RequestRow =
  /** `waits`: the keys that its calls have waited on; they leave the state with it. */
  | (Base & { readonly phase: "running"; readonly waits: readonly string[] })
  | (Base & {
      readonly phase: "replying";
      readonly replies: readonly Reply[];
      readonly triggers: readonly Json[];
      /** Set where the request was a flow. */
      readonly flow?: FlowEnd;
      /** Set where the request was a turn. */
      readonly turn?: TurnEnd;
    });

/** A row in one of its phases. */
export type RowIn<P extends RequestRow["phase"]> = Extract<RequestRow, { readonly phase: P }>;

export type RequestEvent =
  | {
      readonly type: "request.submitted";
      readonly request: string;
      readonly hash: string;
      /** The id of the execution scope that the host gives; without one it is the request's own. */
      readonly execution_scope?: string;
      readonly calls: readonly RequestedCall[];
      /** Places its calls in the queues of tools: the higher, the sooner. 0 where it is left out. From protocol 2 on. */
      readonly priority?: number;
      readonly by?: string;
      /** The caller's span, as W3C Trace Context writes it: for who reads along. */
      readonly traceparent?: string;
    }
  | { readonly type: "request.cancelled"; readonly request: string; readonly by?: string }
  | {
      readonly type: "reply.acked";
      readonly request: string;
      /** The event that submitted it: for those who ask for its status when it has left the state. */
      readonly born?: number;
      /** How it has ended; left out where it is done. */
      readonly ended?: Exclude<RequestEnd, "done">;
    };

/** How a request has ended, in a word: failed if one of its calls did. */
export type RequestEnd = "done" | "failed" | "cancelled";

/** The execution scope of a request whose host gives none. */
export const ownExecutionScope = (scope: string, request: string): string => `${scope}/${request}`;

/** Why ids of calls that are made together do not tell them apart, if they don't. */
export const conflictOfIds = (calls: readonly { readonly id: string }[]): string | undefined => {
  const seen = new Set<string>();
  for (const [index, { id }] of calls.entries()) {
    if (id.trim() === "") return `call ${index} has an empty id`;
    if (seen.has(id)) return `two calls have the id \`${id}\``;
    seen.add(id);
  }
  return undefined;
};

/** Signals that requests hear. */
export type RequestSignal =
  | { readonly type: "batch.ended"; readonly batch: BatchRef }
  /** A process runs its call as a request of its own. */
  | {
      readonly type: "request.open";
      readonly request: string;
      readonly hash: string;
      readonly executionScope: string;
      readonly calls: readonly NewCall[];
    }
  | {
      readonly type: "flow.ended";
      readonly request: string;
      readonly end: FlowEnd;
      readonly triggers: readonly Json[];
    };

/** Commands of requests. */
export type RequestCommand =
  /** `flow`, `turn`: how it ended, where the request is one. */
  { readonly type: "reply"; readonly request: string; readonly flow?: FlowEnd; readonly turn?: TurnEnd } & Replies;

/** Its rows in a state. */
export interface RequestRows {
  readonly requests: Table<RequestRow>;
}

/** Reads and writes a call as a request submits it. */
export const RequestedCallCodec: Codec<RequestedCall> = record<RequestedCall>("struct RequestedCall", {
  id: string,
  tool: string,
  by_id: optional(boolean),
  args: json,
  replay: optional(json),
});

/** Reads and writes the reply of one call. */
export const ReplyCodec: Codec<Reply> = record<Reply>("struct Reply", {
  call_id: string,
  tool: string,
  args: json,
  output: ToolCallOutput,
  cause: optional(oneOf<UnknownCause>("a cause", "owner_lost", "crash_loop", "diverged")),
  duration_ms: u64,
  parts: optional(json),
  replay: optional(json),
});

export const repliesOf = (at: (ref: CallRef) => CallRow | undefined, { calls }: BatchRow): readonly Reply[] =>
  calls.map((ref) => {
    const row = at(ref);
    if (row?.phase !== "completed") throw new Invariant(`call ${ref} is not completed, but its batch has ended`);
    const { call, tool, args, output, cause, durationMs, parts } = row;
    return {
      call_id: call.id,
      tool,
      args,
      output,
      ...(cause === undefined ? {} : { cause }),
      duration_ms: durationMs,
      ...(parts === undefined ? {} : { parts }),
      ...(call.replay === undefined ? {} : { replay: call.replay }),
    };
  });

/** Returns how a turn has ended. One that was stopped by its limits, its model or its host has failed. */
const endOfTurn = (end: TurnEnd): RequestEnd => {
  if (end.status === "stopped") return end.because === "cancelled" ? "cancelled" : "failed";
  return end.status === "failed" ? "failed" : "done";
};

export const endOfRequest = ({ replies, flow, turn }: RowIn<"replying">): RequestEnd => {
  if (turn !== undefined) return endOfTurn(turn);
  if (flow !== undefined) return flow.ending.type === "failed" ? "failed" : "done";
  const statuses = replies.map(({ output }) => output.outcome.status);
  if (statuses.includes("failure")) return "failed";
  return statuses.includes("cancelled") ? "cancelled" : "done";
};

/** Returns the event that acknowledges the reply of a request. It says what is asked for once the row is gone. */
export const ackOf = ({ scope, requests }: State, request: string): EventOf<"reply.acked"> => {
  const row = requests.at(request);
  const acked = { type: "reply.acked", request } as const;
  if (row?.phase !== "replying" || !hasRule(scope.protocol, "ended_requests")) return acked;
  const ended = endOfRequest(row);
  return { ...acked, born: row.born, ...(ended === "done" ? {} : { ended }) };
};

// Differences between reported replies and those that the batch has.
const said = ({ call_id, output }: Reply): string => `${output.outcome.status} of \`${call_id}\``;

/** Where replies that are reported are not what the batch came to, if they aren't. */
export const firstDifference = (expected: readonly Reply[], found: readonly Reply[]): string | undefined => {
  if (expected.length !== found.length) return `expected ${expected.length} replies, found ${found.length}`;
  const index = expected.findIndex((reply, i) => said(reply) !== said(found[i] as Reply));
  if (index === -1) return undefined;
  return `reply ${index}: expected ${said(expected[index] as Reply)}, found ${said(found[index] as Reply)}`;
};

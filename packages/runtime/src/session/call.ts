/**
 * Calls as programs ask for them, and their replies as programs read them. A call has one shape wherever it is named: `call` is
 * its name in the scope, `tool` the name of its tool, `label` the name that whoever asked for it gave it, as a model does.
 */
import { type Reply as RecordedReply, type RequestedCall, callRef } from "@pawl/sansio-core";
import type { TurnEnd, UnknownCause } from "@pawl/sansio-core/driver";
import {
  type Codec,
  type Json,
  ToolCallOutput,
  array,
  boolean,
  json,
  named,
  oneOf,
  optional,
  record,
  string,
  u64,
  type ToolValue,
} from "@pawl/tool-value";
import { Refused, unknownKeyIn } from "../error.ts";
import { decoded } from "../scope/access.ts";
import { type CalledTool, valueOfReply } from "../tool/result.ts";
import type { CallOptions, RequestOptions, Waiting } from "./request.ts";

/** A call of a request. */
export interface CallOfRequest {
  /** The tool's name; or its id, if `byId`. */
  readonly tool: string;
  readonly args: Json;
  /** Tells the calls of a request apart. Default: its place among them, from 1. */
  readonly label?: string;
  readonly byId?: boolean;
  readonly replay?: Json;
}

const fields = { tool: string, args: json, replay: optional(json) } as const;

const Calls = array(record<CallOfRequest>("a call", { label: optional(string), ...fields, byId: optional(boolean) }));

/** Reads and writes a call of a request as the wire has it. */
export const CallOfRequestCodec: Codec<CallOfRequest> = record<CallOfRequest>("struct RequestedCall", {
  label: named("id", optional(string)),
  ...fields,
  byId: named("by_id", optional(boolean)),
});

const known: Record<keyof CallOfRequest, 1> = { tool: 1, args: 1, label: 1, byId: 1, replay: 1 };

/** Refuses unknown fields: a call with a misspelt `label` would go by its place. */
const admitFields = (call: object, i: number): void => {
  const unknown = unknownKeyIn(`calls[${i}].`, call, known);
  if (unknown !== undefined) throw new Refused("invalid_argument", unknown);
};

/** Returns the calls of a request as the log has them; those of a slice with how many stand before it. */
export const recordedCalls = (given: readonly CallOfRequest[], before = 0): readonly RequestedCall[] => {
  const calls = decoded(Calls, given, "calls");
  for (const [i, call] of given.entries()) admitFields(call, i);
  return calls.map(({ label, tool, byId, args, replay }, i) => ({
    id: label ?? `${before + i + 1}`,
    tool,
    ...(byId === undefined ? {} : { by_id: byId }),
    args,
    ...(replay === undefined ? {} : { replay }),
  }));
};

/** How one call ended, as its caller is told. */
export interface Reply {
  /** Its name in the scope, `{request}:{label}`, by which it is cancelled. */
  readonly call: string;
  readonly tool: string;
  readonly label: string;
  readonly args: Json;
  readonly output: ToolCallOutput;
  /** Why its outcome is unknown, where it is. */
  readonly cause?: UnknownCause;
  readonly durationMs: number;
  /** Made by the host's projection for the model, where there is one. */
  readonly parts?: Json;
  readonly replay?: Json;
}

/** Reads and writes a reply as the wire has it. */
export const ReplyCodec: Codec<Reply> = record<Reply>("struct Reply", {
  call: string,
  label: named("call_id", string),
  tool: string,
  args: json,
  output: ToolCallOutput,
  cause: optional(oneOf<UnknownCause>("a cause", "owner_lost", "crash_loop", "diverged")),
  durationMs: named("duration_ms", u64),
  parts: optional(json),
  replay: optional(json),
});

/**
 * The replies of a request, one for each call in order, and the occurrences that its calls triggered, if any. A turn has no
 * replies of its own, and its end instead.
 */
export type Replies = readonly Reply[] & { readonly triggers?: readonly Json[]; readonly turn?: TurnEnd };

/** Gives replies the occurrences of their request. */
export const withTriggers = (replies: readonly Reply[], triggers: readonly Json[] = []): Replies =>
  triggers.length === 0 ? replies : Object.assign([...replies], { triggers });

/** Returns the replies of a request from how the log has them. */
export const repliesOf = (
  request: string,
  recorded: {
    readonly replies: readonly RecordedReply[];
    readonly triggers: readonly Json[];
    readonly turn?: TurnEnd | undefined;
  },
): Replies => {
  const replies = recorded.replies.map(({ call_id: label, duration_ms: durationMs, ...reply }) => ({
    call: callRef(request, label),
    label,
    ...reply,
    durationMs,
  }));
  const { turn } = recorded;
  return turn === undefined ? withTriggers(replies, recorded.triggers) : Object.assign(replies, { turn });
};

/** Returns the one call of a request. */
export const callTo = <Input, Result>(
  tool: CalledTool<Input, Result>,
  args: Input,
  label: string | undefined,
): readonly CallOfRequest[] => [
  {
    tool: typeof tool === "string" ? tool : tool.name,
    args: args as Json,
    ...(label === undefined ? {} : { label }),
  },
];

/** Returns the value of a request of one call. */
export const resultOfRequest = (request: string, replies: Replies): ToolValue => {
  const [reply, ...others] = replies;
  if (reply !== undefined && others.length === 0) return valueOfReply(reply);
  const message = `request \`${request}\` has ${replies.length} calls, expected one: ask for its \`replies\``;
  throw new Refused("not_one_call", message);
};

/** Calls of one tool, on top of requests of many. */
export abstract class CallsTools {
  abstract request(request: string, calls: readonly CallOfRequest[], how?: RequestOptions): Promise<Replies>;
  abstract replies(request: string, waiting?: Waiting): Promise<Replies>;

  /**
   * Calls a tool and waits for its result; throws `ToolFailed` where it has none. `id` is the request's: the same call
   * again joins it, or is answered as it was.
   */
  async call<Input, Result = unknown>(
    tool: CalledTool<Input, Result>,
    args: Input,
    { id, label, ...how }: CallOptions,
  ): Promise<Result> {
    return resultOfRequest(id, await this.request(id, callTo(tool, args, label), how)) as Result;
  }

  /** Returns the result of a request of one call, when it is there; throws `ToolFailed` where it has none. */
  async result<Result = unknown>(request: string, waiting: Waiting = {}): Promise<Result> {
    return resultOfRequest(request, await this.replies(request, waiting)) as Result;
  }
}

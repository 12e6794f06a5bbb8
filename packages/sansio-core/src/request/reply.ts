/** Replies: how they are made, compared, written and read. */
import { type Codec, ToolCallOutput, boolean, json, optional, record, string, u64 } from "@pawl/tool-value";
import type { BatchRow } from "../call/batch.ts";
import type { CallRow } from "../call/model.ts";
import { Invariant } from "../kernel/error.ts";
import type { CallRef } from "../kernel/ids.ts";
import type { Reply, RequestedCall } from "./model.ts";

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
  duration_ms: u64,
  parts: optional(json),
  replay: optional(json),
});

export const repliesOf = (at: (ref: CallRef) => CallRow | undefined, { calls }: BatchRow): readonly Reply[] =>
  calls.map((ref) => {
    const row = at(ref);
    if (row?.phase !== "completed") throw new Invariant(`call ${ref} is not completed, but its batch has ended`);
    const { call, tool, args, output, durationMs, parts } = row;
    return {
      call_id: call.id,
      tool,
      args,
      output,
      duration_ms: durationMs,
      ...(parts === undefined ? {} : { parts }),
      ...(call.replay === undefined ? {} : { replay: call.replay }),
    };
  });

// Differences between reported replies and those that the batch has.

const said = ({ call_id, output }: Reply): string => `${output.outcome.status} of \`${call_id}\``;

/** Where replies that are reported are not what the batch came to, if they aren't. */
export const firstDifference = (expected: readonly Reply[], found: readonly Reply[]): string | undefined => {
  if (expected.length !== found.length) return `expected ${expected.length} replies, found ${found.length}`;
  const index = expected.findIndex((reply, i) => said(reply) !== said(found[i] as Reply));
  if (index === -1) return undefined;
  return `reply ${index}: expected ${said(expected[index] as Reply)}, found ${said(found[index] as Reply)}`;
};

import { type Codec, ToolCallOutput, boolean, json, optional, record, string, u64 } from "@pawl/tool-value";
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

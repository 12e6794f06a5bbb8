import { type Codec, ToolCallOutput, boolean, json, optional, record, string, u64 } from "@pawl/tool-value";
import type { Reply, RequestedCall } from "./model.ts";

export const RequestedCallCodec: Codec<RequestedCall> = record<RequestedCall>("struct RequestedCall", {
  id: string,
  tool: string,
  by_id: optional(boolean),
  args: json,
  replay: optional(json),
});

export const ReplyCodec: Codec<Reply> = record<Reply>("struct Reply", {
  call_id: string,
  tool: string,
  args: json,
  output: ToolCallOutput,
  duration_ms: u64,
  parts: optional(json),
  replay: optional(json),
});

/** `@pawl/tool-value`: the values that cross the boundary between tools and models. Pure: no platform is needed. */
export { type Json, type JsonObject, type Limits, type Path, type ValueError, type ValueErrorCode } from "./json.ts";
export { defaultLimits, describe, formatPath, noLimits } from "./json.ts";
export { parse, parseRecord } from "./parse.ts";
export { canonicalJson, quote, stringify, stringifyRecord } from "./write.ts";
export { type ToolObject, type ToolValue, tagKey } from "./model.ts";
export { attachments, decode, encode, equal, fromJs, json, jsonFromJs, lift, toolValue } from "./value.ts";
export { hashText, stableHash, utf8, valueHash } from "./hash.ts";
export { hkdf, hmac } from "./hmac.ts";
export {
  Attachment,
  AttachmentCreateMeta,
  AttachmentRef,
  type ImageType,
  MediaType,
  attachment,
  isAttachment,
  mimeOf,
  parseMediaType,
} from "./attachment.ts";
export {
  FailureClass,
  type OutcomeSource,
  ToolCallOutcome,
  ToolCallOutput,
  ToolCallRecord,
  type ToolCallStatus,
  ToolCancellation,
  ToolControl,
  ToolFailure,
  ToolRetryDisposition,
  cancelledOutput,
  errorOutput,
  errorText,
  failureOutput,
  isSuccess,
  outputAttachments,
  resultForProjection,
  runtimeCancellation,
  runtimeFailure,
  safeRetryFailure,
  statusOf,
  successOutput,
  toolFailure,
  valueForProjection,
  withRetry,
} from "./output.ts";
export {
  type ToolResult,
  cancelled,
  defaultPendingCompletion,
  done,
  err,
  internalErrorOutput,
  internalErrorText,
  isToolResult,
  ok,
  outputOfReturned,
  pending,
  resultOf,
  withControl,
} from "./completion.ts";
export {
  Duration,
  ExternalCompletionError,
  PendingCompletion,
  ResolveOutcome,
  Resolution,
  ToolInvocationReply,
  outputOfResolution,
  replyCancelled,
  replyError,
  replySuccess,
} from "./resolution.ts";
export {
  ModelToolReturn,
  ModelToolReturnPart,
  formatToolOutput,
  modelParts,
  modelPartsFromOutput,
  modelReturn,
  textReturn,
} from "./model-return.ts";
export { ProcessValueSelector, type SelectorTemplate, at, render, select } from "./selector.ts";
export { SessionEvent, TurnEvent } from "./observation.ts";
export {
  type Codec,
  type Defaulted,
  type Fields,
  type Optional,
  array,
  boolean,
  defaulted,
  dict,
  lazy,
  nullable,
  optional,
  read,
  readOwned,
  record,
  refuse,
  string,
  text,
  u32,
  u64,
} from "./codec.ts";
export { codecFrom } from "./type.ts";
export { oneOf, tagged } from "./union.ts";
export { external } from "./external.ts";
export { type Change, laidOut, mapValues } from "./layout.ts";

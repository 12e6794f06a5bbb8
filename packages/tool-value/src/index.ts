/** `@pawl/tool-value`: the values that cross the boundary between tools and models. Pure: no platform is needed. */
export {
  type Json,
  type JsonObject,
  type Path,
  type ValueError,
  type ValueErrorCode,
  describe,
  formatPath,
  isObject,
} from "./json.ts";
export { escaped, escapedLines } from "./escape.ts";
export { type Limits, defaultLimits, noLimits } from "./limits.ts";
export { type PatternFlags, linearPattern } from "./pattern.ts";
export { parse, parseRecord } from "./parse.ts";
export { InvalidValue, type SafeResult, parseJson, parseWith, safeParseJson, safeParseWith } from "./plain.ts";
export { canonicalJson, quote, stringify, stringifyRecord } from "./write.ts";
export { type Slices, encodeSlices, isHeavy, mapSlices, recordSlices, sliceOf, textSlices } from "./slices.ts";
export { type ToolObject, type ToolValue, tagKey } from "./model.ts";
export { attachments, decode, encode, equal, fromJs, json, jsonFromJs, lift, toolValue } from "./value.ts";
export { hashText, hkdf, hmac, stableHash, utf8, valueHash } from "./hash.ts";
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
  Duration,
  PendingCompletion,
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
  pendingWithoutKey,
  resultOf,
  withControl,
} from "./result.ts";
export {
  ExternalCompletionError,
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
export { SessionEvent, ToolCallRecord, TurnActivity, TurnEvent, callCorrelation } from "./call-record.ts";
export {
  type Codec,
  type TypeOf,
  array,
  boolean,
  codecFrom,
  dict,
  lazy,
  refuse,
  string,
  text,
  u32,
  u64,
} from "./codec.ts";
export {
  type Defaulted,
  type Fields,
  type Optional,
  type RecordOf,
  defaulted,
  list,
  named,
  nullable,
  optional,
  read,
  readOwned,
  record,
  struct,
} from "./record.ts";
export { type UnionOf, external, oneOf, structs, tagged } from "./union.ts";
export { type AnyCodec, type Change, type Layout, laidOut, layoutOf, mapValues } from "./layout.ts";

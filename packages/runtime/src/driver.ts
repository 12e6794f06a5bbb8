/** `@pawl/runtime/driver`: ports, stores, codecs and defaults for those who write drivers, journals and hosts. */
export { admittedOptions, shownOptions } from "./runtime-options.ts";
export { wrongNumber, unknownKeyIn, errorOf, textOf } from "./error.ts";
export { coreToolOf, flowToolOf } from "./tool/tool.ts";
export { defaultPatience, type Patience } from "./body/body-end.ts";
export { type Reattach, type ReattachPlace, decideReattach } from "./process/run/run.ts";
export { type BackgroundSink } from "./process/run/report.ts";
export { type Platform, inTurns, messageTurn } from "./platform.ts";
export {
  type Append,
  type Brought,
  type AppendResult,
  type ChainCheck,
  type ChainHead,
  type Claim,
  type Holding,
  type JournalLine,
  type LastOwner,
  type Lease,
  type InboxMessage,
  type InboxMessageId,
  type NotWritten,
  type Retained,
  type ScopeEntry,
  type Segment,
  type OutboxMessage,
  type Outbox,
  type Snapshot,
  type Adoption,
  type IndexEntry,
  type MoveEnd,
  type MoveStore,
  type Wakes,
} from "./journal/journal.ts";
export {
  type Advanced,
  type Limit,
  type PlaceId,
  type QueueStore,
  type Standing,
  type WantedPlace,
  windowOf,
} from "./journal/queue.ts";
export { BloomFilter } from "./journal/bloom-filter.ts";
export { type MemoryJournalOptions } from "./journal/memory-journal.ts";
export {
  BlobMissing,
  type BlobReader,
  type BlobStore,
  type MemoryBlobsOptions,
  isHash,
  memoryBlobs,
  namesIn,
  leftBehind,
  packBlobs,
  packNamed,
  unpackBlobs,
  unpacked,
  attachmentId,
  memoryAttachments,
} from "./journal/blob.ts";
export { type SealPlace, type ValueCodec, SealedError, isSealedLine } from "./journal/seal.ts";
export { sealedJournal } from "./journal/sealed-journal.ts";
export { type Sweep, type SweepOptions, type SweepSchedule, sweepBlobs } from "./journal/sweep.ts";
export { type ValuesPort, Values, defaultBlobChars } from "./scope/large-values.ts";
export { chainStartOf } from "./journal/memory-scope.ts";
export { type LiveTool } from "./tool/live-tool.ts";
export { checkArgs, checkedNow } from "./tool/check.ts";
export { contractById, executeById, manifestById, manifestByName } from "./tool/provider.ts";
export { type ToolHost, type RawOutput } from "./host/host.ts";
export {
  type RegistryReply,
  causeChain,
  registryReply,
  withoutRawOutput,
  isErrorResult,
  isExecutionResult,
  isSuccess,
  successWithRawOutput,
  type CalledTool,
} from "./tool/result.ts";
export {
  endOf,
  isAfter,
  FrameCodec,
  type Ephemeral,
  type Observed,
  type ProgressSaid,
  progressFields,
} from "./session/observe/observation.ts";
export { uuidOf } from "./body/facet/context.ts";
export { SessionEntry, type SessionPage, SessionStatus, sessionStatus } from "./session/listed.ts";
export { CallOfRequestCodec, ReplyCodec, withTriggers, callTo, resultOfRequest } from "./session/call.ts";
export { replaceTools } from "./session/catalog.ts";
export { defaultBounds } from "./session/admission.ts";
export { type Capabilities } from "./body/facet/capability.ts";
export { keptValue, valueOfKept } from "./body/recorded-result.ts";
export { type StepOptions, checkedStep } from "./body/facet/step.ts";
export { foldLines, recordedIn } from "./scope/history.ts";
export {
  type BesidesLines,
  type LogAttachments,
  type SteppedLine,
  besidesLines,
  keepAttachments,
  putLog,
} from "./move/log-file.ts";
export { promptHash } from "./turn/prompt-of.ts";
export { base64Of, bytesOf } from "./encoding.ts";
export { putAttachment } from "./journal/blob.ts";
export { unpackedAttachment } from "./move/attachment.ts";
export { openState } from "./scope/open-scope.ts";
export { isAtRest } from "./lifecycle/eviction.ts";
export { type HealthAnswer, healthAnswer, type Readiness } from "./lifecycle/lease.ts";
export { type ClaimedDue } from "./lifecycle/recovery.ts";
export { type LogEntry, type LogLevel, type LogName, entryOf, logLevels } from "./log.ts";
export { Moves } from "./move/move.ts";
export { MoveAnswer, type MovePart, type Mover } from "./move/mover.ts";
export { type BodiesAtMove, type Resting } from "./move/quiesce.ts";
export {
  type KeyOwner,
  readToken,
  type Roots,
  type ScopeSecret,
  type SignedKey,
  scopeOfToken,
  tokenOf,
} from "./scope/wait-token.ts";
export {
  ToolArgumentProjection,
  ToolContract,
  ToolId,
  ToolOutputContract,
  ToolDefinition as WireToolDefinition,
} from "./tool/manifest.ts";
export { LlmRequest } from "./body/facet/host.ts";
export { StreamFrame, type StreamOptions } from "./stream/streams.ts";
export { type StreamCursor, cursorAfter } from "./stream/reader.ts";
export { type LambdaInput } from "./session/flow.ts";
export { type Given } from "./tool/argument.ts";
export { Resolved } from "./session/resolve.ts";
export { type Target } from "./session/cancel.ts";
export { type Rejecting, type Stickiness, type AwaitingPage, ScopeAwaiting } from "./session/approval.ts";
export { type Offer, type OfferedRun } from "./session/executor/executor.ts";
export { type Settled, type Settlement } from "./session/executor/offer.ts";
export { type Engine, type EngineRun, type Engines } from "./process/engine.ts";
export { type HostRun } from "./process/run/background.ts";
export { type Probe, type ProcessHost, type RunFiles, type RunTool, type Wake } from "./process/host.ts";
export { type MessageFilter, type TaskFilter } from "./process/run/session-work.ts";
export { type LongWorkFacets } from "./body/facet/long-work.ts";
export { type CancelledProcess, type SignalledProcess } from "./body/facet/process.ts";
export { type AnswerCursor, type AnswerFrame, type AnswerReader, AnswerStream } from "./turn/answer-stream.ts";
export {
  type AgentDefinition,
  type ModelAnswer,
  type ModelCall,
  ModelError,
  type ModelPort,
  type TurnHost,
  type TurnVerdict,
} from "./turn/port.ts";
export { type BudgetStatus, budgetOf, type Said, type TurnOptions } from "./turn/submit.ts";
export { type TurnPace, defaultPace } from "./turn/pace.ts";
export { type ReadTurnOptions, type TurnCursor, TurnFrame, turnCursorAfter } from "./turn/turn-reader.ts";
export { type PromptQuestion, type PromptSource, type ShownPrompt, shownPrompt } from "./turn/shown-prompt.ts";
export { askingAgain, pause, pauseAfter, retryAfterMs } from "./fetch/ask-again.ts";
export { isRepeating } from "./body/facet/context.ts";

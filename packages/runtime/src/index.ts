/** `@pawl/runtime`: the interpreter that every driver shares. */
export { Runtime } from "./runtime.ts";
export { type RuntimeOptions } from "./runtime-options.ts";
export { wrongNumber } from "./lifecycle/number-option.ts";
export { admittedOptions } from "./lifecycle/wrong-option.ts";
export { unknownKeyIn as strangerIn } from "./tool/unknown-key.ts";
export { type ExternalWork, type HostPort } from "./host/host-request.ts";
export { Session } from "./session/session.ts";
export { type FlowHost, type FlowSubmission, type LambdaInput } from "./session/flow.ts";
export { flowToolOf } from "./tool/flow-tool.ts";
export { type CallOptions, type Submission, type Waiting } from "./session/request.ts";
export { Resolved } from "./session/resolve.ts";
export { type Approval, type Rejecting, type Stickiness } from "./session/approval-decision.ts";
export { ApprovalWanted, type AwaitingPage, ScopeAwaiting } from "./session/approval.ts";
export { type ExecutorSpec, type Offer, type OfferedRun } from "./session/executor/executor.ts";
export { type Settled, type Settlement } from "./session/executor/offer.ts";
export { type Target } from "./session/cancel.ts";
export { type Patience, defaultPatience } from "./body/stop.ts";
export { type DeletionReport, type ProcessSignal, Processes } from "./process/process.ts";
export { type Engine, type EngineRun, type Engines } from "./process/engine.ts";
export { Background, type HostRun, Places } from "./process/run/background.ts";
export {
  type BackgroundHost,
  type BackgroundOptions,
  type Probe,
  type ProcessHost,
  type RunFiles,
  type RunTool,
  type SessionMessage,
  type Wake,
  defaultBackground,
} from "./process/host.ts";
export { type Reattach, type ReattachPlace, decideReattach } from "./process/run/run.ts";
export { type BackgroundSink } from "./process/run/report.ts";
export { type MessageFilter, SessionWork, type TaskFilter } from "./process/run/session-work.ts";
export { type LongWorkFacets, type RunStart, type ScheduleStart, type Spawned } from "./body/facet/long-work.ts";
export { type CancelledProcess, type ProcessesFacet, type SignalledProcess } from "./body/facet/process.ts";
export { type ProcessStart } from "./process/registration.ts";
export { type ProcessEventsFacet } from "./body/facet/process-event.ts";
export { type HandleTools } from "./body/facet/handle-tool.ts";
export { type Platform } from "./platform.ts";
export { messageTurn } from "./message-turn.ts";
export {
  type Append,
  type AppendResult,
  type ChainCheck,
  type ChainHead,
  type Claim,
  type Holding,
  type Journal,
  type JournalLine,
  type Lease,
  type InboxMessage as Letter,
  type InboxMessageId as LetterId,
  type NotWritten,
  type Retained,
  type ScopeEntry,
  type Segment,
  type OutboxMessage as SentLetter,
  type Snapshot,
} from "./journal/journal.ts";
export { type MemoryJournalOptions, memoryJournal } from "./journal/memory-journal.ts";
export {
  BlobMissing,
  type BlobReader,
  type BlobStore,
  type MemoryBlobsOptions,
  isHash,
  memoryBlobs,
  namesIn,
} from "./journal/blob.ts";
export { leftBehind, packBlobs, packNamed, unpackBlobs, unpacked } from "./journal/pack.ts";
export { type SealPlace, type ValueCodec } from "./journal/seal.ts";
export { SealedError, isSealedLine } from "./journal/sealed.ts";
export { sealedJournal } from "./journal/sealed-journal.ts";
export { type Sweep, type SweepOptions, type SweepSchedule, sweepBlobs } from "./journal/sweep.ts";
export { type ValuesPort, Values, defaultBlobChars } from "./scope/values.ts";
export { chainStartOf } from "./journal/memory-scope.ts";
export { type ArgsOf, type JsonSchema, type Parameters } from "./tool/argument.ts";
export { checkArgs } from "./tool/argument-check.ts";
export { type ToolDefinition, contractOf, defineTool, manifestOf, wireManifestOf } from "./tool/tool.ts";
export { type LiveTool, type PrepareContext } from "./tool/live-tool.ts";
export { Registry } from "./tool/registry.ts";
export {
  type PendingToolCall,
  type ProviderCall,
  type ProviderPrepare,
  type ToolProvider,
  contractById,
  executeById,
  manifestById,
  manifestByName,
} from "./tool/provider.ts";
export { type InternalErrorDetail, type RawOutput, type ToolHost } from "./host/tool-host.ts";
export { type AttachmentStore, attachmentId, memoryAttachments, putAttachment } from "./journal/attachment.ts";
export { type ConnectionAnswer, type ConnectionRequest } from "./host/connection.ts";
export {
  type ExecutionResult,
  type RegistryReply,
  type ToolImage,
  causeChain,
  connectionRequired,
  internalError,
  isError,
  isExecutionResult,
  isSuccess,
  registryReply,
  success,
  successWithImages,
  successWithRawOutput,
  toolError,
  withoutRawOutput,
} from "./tool/result.ts";
export { Cursor, type Ephemeral, type Frame, type Observation, endOf, isAfter } from "./session/observe/observation.ts";
export { FrameCodec } from "./session/observe/observation-codec.ts";
export { type ObserveOptions, Subscription, defaultObserverBuffer } from "./session/observe/observer.ts";
export { type ProgressMessage, type ToolContext } from "./body/facet/context.ts";
export { type EndedHookCall, type HookCall, type Plugin, type PluginDirective } from "./host/hook.ts";
export { type ProjectedCall, type Projector } from "./host/outcome.ts";
export { type OutcomeDecision, type OutcomeResolver, type UnknownOutcome } from "./host/unknown-outcome.ts";
export { type Durable } from "./body/facet/asking.ts";
export { type StepInfo } from "./body/facet/step.ts";
export { type Bounds, defaultBounds } from "./session/admission.ts";
export {
  EffectError,
  Overloaded,
  OwnedElsewhere,
  Refused,
  ScopeLost,
  ScopeMoved,
  ScopeMoving,
  ToolError,
} from "./error.ts";
export {
  type Capabilities as Standing,
  problemOfCompletion,
  problemOfDurable,
  problemOfProcessEvent,
} from "./body/facet/facts.ts";
export { Quarantined, foldLines, recordedIn } from "./scope/fold.ts";
export {
  type LogAttachments,
  type SteppedLine,
  importLog,
  keepAttachments,
  linesIn,
  logText,
  putLog,
} from "./move/log-file.ts";
export { unpackedAttachment } from "./move/attachment.ts";
export { openState } from "./scope/load-scope.ts";
export { isAtRest } from "./session/under-way.ts";
export { type Adoption, type IndexEntry, type MoveEnd, type MoveStore } from "./journal/move-store.ts";
export { type Log, type LogEntry, type LogLevel, type LogName, entryOf, logLevels } from "./log.ts";
export { type Telemetry } from "./telemetry.ts";
export { Moves } from "./move/move.ts";
export { MoveAnswer, type MovePart, type Mover } from "./move/mover.ts";
export { type BodiesAtMove, type Resting } from "./move/quiesce.ts";
export { type ScopeSecret, idOfToken } from "./scope/token-check.ts";
export { type Roots, tokenOf } from "./scope/token.ts";
export {
  ToolArgumentProjection,
  ToolContract,
  ToolId,
  ToolHints,
  ToolManifest,
  ToolOutputContract,
  ToolDefinition as WireToolDefinition,
} from "./tool/manifest.ts";
export { LlmRequest } from "./body/facet/host.ts";

/** `@pawl/runtime`: the interpreter that every driver shares. */
export { Runtime } from "./runtime.ts";
export { type RuntimeOptions } from "./runtime-options.ts";
export { wrongNumber } from "./number-option.ts";
export { admittedOptions } from "./wrong-option.ts";
export { strangerIn } from "./stranger.ts";
export { type HostPort } from "./host-request.ts";
export { Session } from "./session.ts";
export { type FlowHost, type FlowSubmission, type LambdaInput } from "./flow.ts";
export { flowToolOf } from "./flow-tool.ts";
export { type CallOptions, type Submission, type Waiting } from "./request.ts";
export { Resolved } from "./resolve.ts";
export { type Approval, type Rejecting, type Stickiness } from "./decide.ts";
export { ApprovalWanted, type AwaitingPage, ScopeAwaiting } from "./approvals.ts";
export { type ExecutorSpec, type Offer, type OfferedRun } from "./executor.ts";
export { type Settled, type Settlement } from "./offer.ts";
export { type Target } from "./cancel.ts";
export { type Patience, defaultPatience } from "./idle.ts";
export { type DeletionReport, type ProcessSignal, Processes } from "./process.ts";
export { type Engine, type EngineRun, type Engines } from "./engine.ts";
export { type Wake } from "./process-wake.ts";
export { Background, type HostRun } from "./background/background.ts";
export {
  type BackgroundHost,
  type BackgroundOptions,
  type Probe,
  type RunFiles,
  type RunTool,
  type SessionMessage,
  defaultBackground,
} from "./background/host.ts";
export { Places } from "./background/place.ts";
export { type Reattach, type ReattachPlace, decideReattach } from "./background/reattach.ts";
export { type BackgroundSink } from "./background/report.ts";
export { type MessageFilter, SessionWork, type TaskFilter } from "./background/session-work.ts";
export { type LongWorkFacets, type RunStart, type ScheduleStart, type Spawned } from "./context/long-work.ts";
export { type ProcessHost } from "./process-work.ts";
export { type CancelledProcess, type ProcessesFacet, type SignalledProcess } from "./context/process.ts";
export { type ProcessStart } from "./context/process-registration.ts";
export { type ProcessEventsFacet } from "./context/process-event.ts";
export { type HandleTools } from "./context/handle-tool.ts";
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
  type Letter,
  type LetterId,
  type NotWritten,
  type Retained,
  type ScopeEntry,
  type Segment,
  type SentLetter,
  type Snapshot,
} from "./journal.ts";
export { type MemoryJournalOptions, memoryJournal } from "./memory-journal.ts";
export {
  BlobMissing,
  type BlobReader,
  type BlobStore,
  type MemoryBlobsOptions,
  isHash,
  memoryBlobs,
  namesIn,
} from "./blob.ts";
export { leftBehind, packBlobs, packNamed, unpackBlobs, unpacked } from "./pack.ts";
export { type SealPlace, type ValueCodec } from "./seal.ts";
export { SealedError, isSealedLine } from "./sealed.ts";
export { sealedJournal } from "./sealed-journal.ts";
export { type Sweep, type SweepOptions, type SweepSchedule, sweepBlobs } from "./sweep.ts";
export { type ValuesPort, Values, defaultBlobChars } from "./values.ts";
export { chainStartOf } from "./memory-scope.ts";
export { type ArgsOf, type JsonSchema, type Parameters } from "./argument.ts";
export { checkArgs } from "./argument-check.ts";
export { type ToolDefinition, contractOf, defineTool, manifestOf, wireManifestOf } from "./tool.ts";
export { type LiveTool, type PrepareContext } from "./live-tool.ts";
export { Registry } from "./registry.ts";
export {
  type PendingToolCall,
  type ProviderCall,
  type ProviderPrepare,
  type ToolProvider,
  contractById,
  executeById,
  manifestById,
  manifestByName,
} from "./provider.ts";
export { type InternalErrorDetail, type RawOutput, type ToolHost } from "./tool-host.ts";
export { type AttachmentStore, attachmentId, memoryAttachments, putAttachment } from "./attachment.ts";
export { type ConnectionAnswer, type ConnectionRequest } from "./connection.ts";
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
} from "./result.ts";
export { Cursor, type Ephemeral, type Frame, type Observation, endOf, isAfter } from "./observation.ts";
export { FrameCodec } from "./observation-codec.ts";
export { type ObserveOptions, Subscription, defaultObserverBuffer } from "./observer.ts";
export { type ProgressMessage } from "./context/progress.ts";
export { type EndedHookCall, type HookCall, type Plugin, type PluginDirective } from "./hook.ts";
export { type ProjectedCall, type Projector } from "./project.ts";
export { type OutcomeDecision, type OutcomeResolver, type UnknownOutcome } from "./unknown-outcome.ts";
export { type ExternalWork } from "./external.ts";
export { type Durable } from "./context/asking.ts";
export { type ToolContext } from "./context/context.ts";
export { type StepInfo } from "./context/step.ts";
export { type Bounds, defaultBounds } from "./admission.ts";
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
export { type Standing, misfitOfCompletion, misfitOfDurable } from "./open.ts";
export { misfitOfProcessEvent } from "./open-process.ts";
export { Quarantined, foldLines, recordedIn } from "./fold.ts";
export {
  type LogAttachments,
  type SteppedLine,
  importLog,
  keepAttachments,
  linesIn,
  logText,
  putLog,
} from "./log-file.ts";
export { unpackedAttachment } from "./move-bytes.ts";
export { openState } from "./opening.ts";
export { isAtRest } from "./under-way.ts";
export { type Adoption, type IndexEntry, type MoveEnd, type MoveStore } from "./move-store.ts";
export { type Log, type LogEntry, type LogLevel, type LogName, entryOf, logLevels } from "./log.ts";
export { type Telemetry } from "./telemetry.ts";
export { Moves } from "./move.ts";
export { MoveAnswer, type MovePart, type Mover } from "./mover.ts";
export { type BodiesAtMove, type Resting } from "./move-rest.ts";
export { type ScopeSecret, idOfToken } from "./token-check.ts";
export { type Roots, tokenOf } from "./token.ts";
export {
  ToolArgumentProjection,
  ToolContract,
  ToolId,
  ToolHints,
  ToolManifest,
  ToolOutputContract,
  ToolDefinition as WireToolDefinition,
} from "./tool/manifest.ts";
export { LlmRequest } from "./context/llm-request.ts";

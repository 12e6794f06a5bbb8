/** `@pawl/runtime`: tools, and the runtime, sessions and observers of those who host them. */
export { Runtime } from "./runtime.ts";
export { type RuntimeOptions } from "./runtime-options.ts";
export { type ExternalWork } from "./host/host-request.ts";
export { type Trigger, type TriggerOccurrence, type TriggerStore, recordedTriggers } from "./host/trigger.ts";
export { type HostPort, type InternalErrorDetail } from "./host/host.ts";
export { Session } from "./session/session.ts";
export { type CallOfRequest, type Replies, type Reply } from "./session/call.ts";
export { type FlowHost, type FlowSubmission } from "./session/flow.ts";
export { type RequestPage, RequestStatus } from "./session/status.ts";
export { type About, type SessionOptions, type SessionStore } from "./host/about.ts";
export { type SecretEntry, type SessionSecrets } from "./host/secret.ts";
export {
  ToolFailed,
  type ExecutionResult,
  type ToolImage,
  connectionRequired,
  internalError,
  success,
  successWithImages,
  toolError,
} from "./tool/result.ts";
export { type ProcessStarted } from "./session/callers.ts";
export { type CallOptions, type RequestOptions, type Submission, type Waiting } from "./session/request.ts";
export { type Approval, ApprovalWanted, PendingApproval } from "./session/approval.ts";
export { type ExecutorSpec } from "./session/executor/executor.ts";
export { type DeletionReport, type ProcessSignal, Processes } from "./process/process.ts";
export { Background } from "./process/run/background.ts";
export { type ScheduleRequest, Schedules, type SessionSchedule } from "./process/run/schedules.ts";
export { type BackgroundHost, type BackgroundOptions, type SessionMessage } from "./process/host.ts";
export { SessionWork } from "./process/run/session-work.ts";
export { type RunStart, type ScheduleStart, type Spawned } from "./body/facet/long-work.ts";
export { type ProcessHandle } from "./body/facet/spawn.ts";
export { type ProcessesFacet } from "./body/facet/process.ts";
export { type ProcessStart } from "./process/registration.ts";
export { type ProcessEventsFacet } from "./body/facet/process-event.ts";
export { type HandleTools } from "./body/facet/handle-tool.ts";
export { type Journal } from "./journal/journal.ts";
export { memoryJournal } from "./journal/memory-journal.ts";
export { type ArgsOf, type JsonSchema, type Schema } from "./tool/argument.ts";
export { type DefinedTool, type InputOf, type ResultOf, type ToolDefinition } from "./tool/definition.ts";
export { contractOf, defineTool, manifestOf } from "./tool/tool.ts";
export { type CatalogTool, type PrepareContext } from "./tool/live-tool.ts";
export { Registry } from "./tool/registry.ts";
export { type ProviderCall, type ProviderPrepare, type ProviderPrepared, type ToolProvider } from "./tool/provider.ts";
export { type AttachmentStore } from "./journal/blob.ts";
export { type ConnectionAnswer, type ConnectionRequest } from "./host/connection.ts";
export { Cursor, type Frame, type Observation, type ProgressMessage } from "./session/observe/observation.ts";
export { type ObserveOptions, Subscription } from "./session/observe/observer.ts";
export { type ToolContext } from "./body/facet/context.ts";
export { type EndedHookCall, type HookCall, type Plugin, type PluginDirective, definePlugin } from "./host/hook.ts";
export {
  type OutcomeDecision,
  type OutcomeResolver,
  type ProjectedCall,
  type Projector,
  type UnknownOutcome,
} from "./host/outcome.ts";
export { type Durable } from "./body/facet/durable.ts";
export { type StepInfo } from "./body/facet/step.ts";
export { isError } from "./body/recorded-result.ts";
export { type DurableFetchOptions, durableFetch } from "./fetch/durable-fetch.ts";
export { type Bounds } from "./session/admission.ts";
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
export { Quarantined } from "./scope/history.ts";
export { importLog, logText } from "./move/log-file.ts";
export { type Log, type Telemetry } from "./log.ts";
export { ToolHints, ToolManifest } from "./tool/manifest.ts";

/** `@pawl/sansio-core/driver`: for those who interpret commands, store logs, and speak the protocol of processes. */
export { crashWords, divergenceWords } from "./explain/words.ts";
export { optionsUnder } from "./kernel/options.ts";
export { hasRule, newestProtocol, type ProtocolRule, missingRule } from "./kernel/protocol.ts";
export { PersistentMap } from "./kernel/persistent-map.ts";
export { type Deadline, type Due } from "./kernel/deadline.ts";
export {
  type EffectKind,
  type EffectResult,
  type EffectSpec,
  type EffectStatus,
  type SelectMode,
  type SettledEffect,
  type StepError,
  type StepRecovery,
  firstTry,
} from "./call/effect/effect.ts";
export {
  type StreamAttempt,
  type StreamGroup,
  type StreamRow,
  type StreamSpec,
  bytesOf,
  streamIn,
} from "./call/effect/stream.ts";
export { awaitedEffects } from "./call/finish.ts";
export { retryDelayMs } from "./call/launch.ts";
export { EffectSpecCodec } from "./call/codec.ts";
export { type GivenReplies, ackOf, givenReplies, ReplyCodec, RequestedCallCodec } from "./request/model.ts";
export { resolutionIn, type WaitRow } from "./wait/model.ts";
export { isSameState, referredTo } from "./snapshot/same.ts";
export { type Decision, type PendingApproval, pendingApprovals } from "./call/approval.ts";
export { hooked } from "./call/prepare.ts";
export { type Recovery, recoveryOf, toolsUnder } from "./catalog/model.ts";
export { RetryPolicyCodec as ToolRetryPolicy } from "./catalog/concern.ts";
export { type BatchRef, type CommandType, isExecutor, requestBatch, streamId } from "./kernel/vocabulary.ts";
export {
  inLife,
  replayBase,
  toolReplayKey,
  AwaitEventKey,
  AwaitEventWaitIdentity,
  batchOccurrence,
  batchSuffix,
  callChildKey,
  childKey,
  type DirectCompletion,
  directIdentity,
  type EffectIdentity,
  type ParentInvocation,
  pendingAwaitSuffix,
  PreparedToolBatch,
  PreparedToolCall,
  ProviderReplayMeta,
  type RetrySleep,
  retrySleepIdentity,
} from "./identity/replay-key.ts";
export {
  checkExecutionScope,
  ExecutionScope,
  executionScopeId,
  type IdentityError,
  processOfScope,
  processScope,
  SessionScope,
  sessionScopeId,
  cancelKey,
  type ProcessEffect,
  processEffectId,
  processEffectKey,
  processEventKey,
  type ProcessListMode,
  processSignalWaitSuffix,
  processSleepSuffix,
  signalEventType,
  signalWaitKey,
  terminalKey,
} from "./identity/scope.ts";
export {
  type AwaitKeyId,
  awaitKeyId,
  type BatchCall,
  type BatchId,
  batchId,
  type Hashed,
  transferEffectId,
} from "./identity/hash.ts";
export {
  type CancelRequest,
  cancelRequest,
  envRef,
  eventPayloadHash,
  registrationHash,
  type WakeId,
  wakeId,
} from "./process/hash.ts";
export {
  descriptorOf,
  ExternalRef,
  handleValue,
  notGranted,
  notVisible,
  parseHandle,
  ProcessAwaitOutput,
  ProcessEvent,
  ProcessEventAppendRequest,
  ProcessEventType,
  ProcessHandleSummary,
  ProcessIdentity,
  ProcessInput,
  ProcessOriginator,
  ProcessProvenance,
  ProcessRecord,
  ProcessRegistration,
  ProcessStatus,
  ProcessWait,
} from "./message/process.ts";
export { type ProcessRow } from "./process/model.ts";
export { CausalRef, RuntimeEffectKind, RuntimeInvocation, RuntimeScope, RuntimeSubject } from "./message/invocation.ts";
export {
  checkRegistration,
  completeRegistration,
  completionRequest,
  identityOf,
  recordOf,
  startedByProcess,
  startedBySession,
} from "./process/registration.ts";
export {
  type Appended,
  appendEvent,
  type ProcessAppend,
  type WakeDelivery,
  wakeKey,
  wakeText,
} from "./process/append.ts";
export { outputOfAwait } from "./process/output.ts";
export { checkSignalName, signalRequest } from "./process/signal.ts";
export { HeaderCodec, headerBefore } from "./log/format.ts";
export { chain, chainStart, linkText } from "./log/hash.ts";
export { linesIn, commandsLine, type Difference, differencesOf, producedBy } from "./log/compare.ts";
export { type Produced } from "./log/fault.ts";
export { attemptInLife, firstLife, isLifeOver, readsFirstAnswers, type SignalPlace } from "./call/life.ts";
export {
  type BodyState,
  type CallIn,
  type CallRow,
  type ParkedCause,
  type Patches,
  type UnknownCause,
} from "./call/model.ts";
export { type RequestDifference, type NamedRequest } from "./call/vocabulary.ts";
export { type Versions, unnamedVersion, versionIn } from "./scope/model.ts";
export { bodyOf, hasFailed, queuedAttempt, queueOf } from "./call/row.ts";
export { SnapshotCodec } from "./snapshot/shape.ts";
export { snapshotSlices } from "./snapshot/write.ts";
export { beginReading, endReading, feed, type Reading, type Torn } from "./log/read.ts";
export { type Asking, type GrantedHandle, type Message, type Outcome, type Telling } from "./message/message.ts";
export {
  answerOf,
  finishedLink,
  type LinkRow,
  type MessageReceived,
  saidProtocol,
  type Sending,
  sendingsOf,
  takenBy,
} from "./link/model.ts";
export { type DeletionRow, handleProblem, type HandleRow, handlesOf } from "./link/handle.ts";
export { observedEvent, type Refusal, refusalIn, resultAmong } from "./process/read.ts";
export {
  argumentText,
  type FlowNode,
  problemOfProgram,
  type NamedArg,
  type NodeOf,
  type Parameter,
  type Program,
} from "./flow/program.ts";
export { type Comparison, decimalText, floatJson } from "./flow/value.ts";
export {
  type DispatchError,
  dispatchErrorText,
  type FlowEnd,
  type FlowExecutionEvent,
  type FlowRow,
  type FlowSpec,
  type FlowTool,
  type LambdaResult,
  type StepEvent,
} from "./flow/model.ts";
export { FlowNodeCodec, FlowToolCodec, ProgramCodec } from "./flow/codec.ts";
export { type Bindings, placeholder } from "./flow/text.ts";
export {
  type Artifact,
  type InputRequest,
  type NewTask,
  type Progress,
  ProgressCodec,
  type Task,
  TaskCodec,
  type TaskError,
  type TaskLinks,
  type TaskState,
  type TaskUpdate,
  type WakePolicy,
} from "./message/task.ts";
export {
  afterMessage,
  applyTaskUpdate,
  createTask,
  isTerminal,
  listMessages,
  type MessagePart,
  type NewMessage,
  requestCancel,
  type TaskMessage,
  wakeOfMessage,
  wakeOfUpdate,
} from "./run/task.ts";
export {
  type Artifacts,
  artifactsOf,
  codePoints,
  cutTo,
  failedRun,
  logOf,
  orphaned,
  type Output,
  pathsOf,
  pretty,
  reattachRefused,
  type RunOutcome,
  type RunPaths,
  type SessionSignal,
  signalText,
  truncationNote,
  unexpectedEnd,
  updateOf,
} from "./run/finish.ts";
export {
  type NewMonitor,
  type Permit,
  type Report,
  type RunDefinition,
  runKind,
  runOfAttempt,
  type RunRow,
  sessionIsFull,
  type SpawnAnswer,
  type TaskRow,
  workerIsFull,
} from "./run/model.ts";
export { OutputCodec } from "./run/codec.ts";
export {
  createSchedule,
  firesTooOften,
  instantOf,
  instantText,
  type NewSchedule,
  type Plan,
  type ProbeOutcome,
  type Schedule,
  type ScheduleAnswer,
  type ScheduleRow,
  sessionHasSchedules,
  triggered,
} from "./schedule/model.ts";
export { enter, type Entered, noneEntered } from "./explain/why.ts";
export { type AboutRow, type Kept } from "./about/model.ts";
export { requestStatus, scopeStatus, type Status, type StatusWord, type WaitsFor } from "./explain/status.ts";
export {
  type CallReason,
  type CallWaits,
  type EffectReason,
  type OtherReason,
  type OtherWaits,
} from "./explain/model.ts";
export {
  attachmentLine,
  attachmentOf,
  type Base,
  blobLine,
  blobOf,
  PackedAttachment,
  PackedBlob,
  type Segment,
  segmentLine,
} from "./log/segment.ts";
export { type AgentSpec, type OutputForm, type Route } from "./turn/agent.ts";
export { type FailureClass, type Finish, type ModelKind, type WhenBusy } from "./turn/event.ts";
export { type AnswerPart, assemble, type Message as TurnMessage, type Piece } from "./turn/message.ts";
export { type TurnEnd, turnCodecs } from "./turn/codec.ts";
export { modelFate } from "./turn/model-event.ts";
export { type Plan as PromptPlan, promptPlan, piecesIn, taskIn as agentTaskIn } from "./turn/plan.ts";
export { promptOf, type PromptMessage } from "./turn/prompt.ts";
export { added as addedUsed, type Amounts, type Limits, type Reached, type Usage, type Used } from "./turn/budget.ts";
export { type Entry, seqsOf } from "./turn/frame.ts";

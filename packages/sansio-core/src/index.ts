/** `@pawl/sansio-core`: the pure state machine that decides everything a tool call can live through. */
export { type Transition, step } from "./core.ts";
export { type State, initial, nextDeadline } from "./kernel/state.ts";
export { PersistentMap } from "./kernel/persistent-map.ts";
export { type Finished } from "./kernel/finished.ts";
export { type Deadline, type Due } from "./kernel/deadline.ts";
export { type Envelope, type Event, type EventOf, type EventType } from "./kernel/event.ts";
export { type Command, type CommandType } from "./kernel/command.ts";
export { type Duty, duties, dutyOf } from "./kernel/duty.ts";
export { Invariant, type Rejection, type RejectionCode } from "./kernel/error.ts";
export { EventCodec } from "./codec.ts";
export { Options, defaultOptions, invalidOption } from "./kernel/options.ts";
export { currentProtocol } from "./kernel/protocol.ts";
export { outstanding, wakeAtOf } from "./recovery.ts";
export { type Asked, ask } from "./call/ask.ts";
export { type Ask, type EffectResult, type EffectSpec, type SettledEffect } from "./call/effect-model.ts";
export { EffectSpecCodec } from "./call/effect-codec.ts";
export { resolutionIn, resolutionOf } from "./wait/read.ts";
export { type WaitRow } from "./wait/model.ts";
export { referredTo } from "./snapshot/referred.ts";
export { type Decision } from "./call/approval-model.ts";
export { type PendingApproval, pendingApprovals } from "./call/pending.ts";
export { hooked } from "./call/hook.ts";
export { type Recovery, type Tool, plainTool, recoveryOf } from "./catalog/model.ts";
export { RetryPolicyCodec as ToolRetryPolicy } from "./catalog/codec.ts";
export { type Reply, type RequestedCall } from "./request/model.ts";
export {
  type BatchRef,
  type CallRef,
  callRef,
  isExecutor,
  replayBase,
  requestBatch,
  toolReplayKey,
} from "./kernel/ids.ts";
export { maxAttempts } from "./call/attempt.ts";
export {
  ExecutionScope,
  type IdentityError,
  checkExecutionScope,
  executionScopeId,
} from "./identity/execution-scope.ts";
export { AwaitEventKey, AwaitEventWaitIdentity } from "./identity/wait-identity.ts";
export { SessionScope, sessionScopeId } from "./identity/session-scope.ts";
export {
  type EffectIdentity,
  type ParentInvocation,
  type RetrySleep,
  callChildKey,
  childKey,
  pendingAwaitSuffix,
  retrySleepIdentity,
} from "./identity/child.ts";
export { type DirectCompletion, directIdentity } from "./identity/direct.ts";
export {
  PreparedToolBatch,
  PreparedToolCall,
  ProviderReplayMeta,
  batchOccurrence,
  batchSuffix,
} from "./identity/prepared.ts";
export {
  type ProcessEffect,
  type ProcessListMode,
  cancelKey,
  processEffectId,
  processEffectKey,
  processEventKey,
  processSignalWaitSuffix,
  processSleepSuffix,
  signalEventType,
  signalWaitKey,
  terminalKey,
} from "./identity/process.ts";
export { processOfScope, processScope } from "./identity/process-scope.ts";
export {
  type AwaitKeyId,
  type BatchCall,
  type BatchId,
  type Hashed,
  awaitKeyId,
  batchId,
  hashed,
} from "./identity/hash.ts";
export {
  type CancelRequest,
  type WakeId,
  cancelRequest,
  envRef,
  eventPayloadHash,
  registrationHash,
  wakeId,
} from "./process/hash.ts";
export { transferEffectId } from "./identity/transfer-hash.ts";
export {
  ExternalRef,
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
export { completionRequest } from "./process/core-event.ts";
export { type Appended, type ProcessAppend, appendEvent } from "./process/append.ts";
export { type WakeDelivery, wakeKey, wakeText } from "./process/wake.ts";
export { outputOfAwait } from "./process/output.ts";
export { checkSignalName, signalRequest } from "./process/signal.ts";
export {
  checkRegistration,
  completeRegistration,
  identityOf,
  recordOf,
  register,
  startedByProcess,
  startedBySession,
} from "./process/registration.ts";
export { descriptorOf, handleValue, notGranted, notVisible, parseHandle } from "./message/handle.ts";
export { type Written, write } from "./log/write.ts";
export {
  type Header,
  HeaderCodec,
  type Recorded,
  currentFormat,
  eventLine,
  headerLine,
  recordedOf,
} from "./log/format.ts";
export { type Replay, type ReplayOptions, follow, replay } from "./log/replay.ts";
export { type Fault, type FaultCode, type Produced } from "./log/fault.ts";
export { describeFault } from "./log/report.ts";
export { digest } from "./kernel/digest.ts";
export { ReplyCodec, RequestedCallCodec } from "./request/codec.ts";
export { type EffectKind, type EffectStatus, type SelectMode, type StepRecovery } from "./call/effect-model.ts";
export { type BodyState, type CallRow, bodyOf } from "./call/model.ts";
export { type Check, type ChangeCheck, changeChecks, checkAll, checkChange, checks } from "./check.ts";
export { SnapshotCodec } from "./snapshot/shape.ts";
export { snapshot } from "./snapshot/write.ts";
export { restore } from "./snapshot/restore.ts";
export { isSameState } from "./snapshot/same.ts";
export { stateHash } from "./snapshot/state-hash.ts";
export { type Reading, type Torn, beginReading, endReading, feed } from "./log/read.ts";
export { commandsLine, producedBy } from "./log/commands.ts";
export { type Difference, differencesOf } from "./log/difference.ts";
export { chain, chainStart, linkText } from "./log/chain-hash.ts";
export { type Asking, type GrantedHandle, type Message, type Outcome, type Telling } from "./message/message.ts";
export { type LinkRow, type MessageReceived, type Sending, answerOf, finishedLink, sendingsOf } from "./link/model.ts";
export { type DeletionRow, type HandleRow } from "./link/handle-model.ts";
export { handleMisfit, handlesOf } from "./link/handle-read.ts";
export { observedEvent } from "./process/read.ts";
export { resultAmong } from "./process/result.ts";
export { type Parameter, argumentText } from "./flow/body.ts";
export { type Comparison, holds } from "./flow/condition.ts";
export { type FlowExecutionEvent, type StepEvent } from "./flow/event.ts";
export { type DispatchError, dispatchErrorText } from "./flow/failure.ts";
export { FlowNodeCodec, FlowToolCodec, ProgramCodec } from "./flow/codec.ts";
export { type FlowEnd, type FlowRow, type FlowSpec, type FlowTool, type LambdaResult } from "./flow/model.ts";
export { placeholder } from "./flow/name.ts";
export { decimalText, floatJson } from "./flow/number.ts";
export { type FlowNode, type NamedArg, type NodeOf, type Program, misfitOfProgram } from "./flow/program.ts";
export { type Bindings } from "./flow/text.ts";
export {
  type Artifact,
  type InputRequest,
  type NewTask,
  type Progress,
  type Task,
  type TaskError,
  type TaskLinks,
  type TaskState,
  type TaskUpdate,
  type WakePolicy,
} from "./message/task.ts";
export { applyTaskUpdate, createTask, isTerminal, requestCancel } from "./run/task.ts";
export {
  type MessagePart,
  type NewMessage,
  type TaskMessage,
  afterMessage,
  listMessages,
  staleMessage,
  wakeOfMessage,
  wakeOfUpdate,
} from "./run/message.ts";
export { type Output, codePoints, cutTo, logOf, truncationNote } from "./run/output.ts";
export {
  type Artifacts,
  type RunOutcome,
  type RunPaths,
  type SessionSignal,
  artifactFailure,
  artifactsOf,
  failedRun,
  orphaned,
  pathsOf,
  reattachRefused,
  signalText,
  unexpectedEnd,
  updateOf,
} from "./run/finish.ts";
export {
  type NewMonitor,
  type Permit,
  type Report,
  type RunDefinition,
  type RunRow,
  type SpawnAnswer,
  type TaskRow,
  runKind,
  runOfAttempt,
  sessionIsFull,
  workerIsFull,
} from "./run/model.ts";
export { ProgressCodec, TaskCodec } from "./message/task.ts";
export { OutputCodec } from "./run/codec.ts";
export { pretty } from "./run/pretty.ts";
export { instantOf, instantText } from "./schedule/instant.ts";
export {
  type NewSchedule,
  type Plan,
  type ProbeOutcome,
  type Schedule,
  type ScheduleAnswer,
  type ScheduleRow,
  createSchedule,
  disabled,
  fireText,
  firesTooOften,
  probeText,
  sessionHasSchedules,
  triggered,
} from "./schedule/model.ts";
export { type Entered, enter, noneEntered, why } from "./explain/why.ts";
export {
  type CallReason,
  type CallWaits,
  type EffectReason,
  type OtherReason,
  type OtherWaits,
  type Why,
} from "./explain/model.ts";
export { effectWords, otherWords, waitsWords } from "./explain/words.ts";
export { type Base, type Segment, segmentLine } from "./log/segment.ts";
export { PackedAttachment, PackedBlob, attachmentLine, attachmentOf, blobLine, blobOf } from "./log/blob.ts";

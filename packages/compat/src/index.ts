/** `@pawl/compat`: the reference's effect envelopes as an encoding, for hosts that speak to systems that know them. */
export {
  type EnvelopeError,
  type EnvelopeErrorCode,
  RuntimeEffectEnvelope,
  effectEnvelope,
  envelopeHash,
  validateEnvelope,
} from "./envelope.ts";
export { type NotPerformed, type PerformedCommand, RuntimeEffectCommand, checkPerformed } from "./command.ts";
export { LlmRequest } from "@pawl/runtime/driver";
export {
  EffectResult,
  RuntimeEffectControllerError,
  RuntimeEffectOutcome,
  RuntimeError,
  type WrongOutcome,
  errorLine,
  expectOutcome,
} from "./outcome.ts";
export { type GrantedProcess, ProcessCommand, ProcessOutcome, commandEffectId } from "./process-effect.ts";
export {
  type CallPlace,
  type EffectPlace,
  awaitInvocation,
  batchInvocation,
  causalRefOf,
  childInvocation,
  parentOf,
  pendingAwaitInvocation,
  retrySleepInvocation,
  stepInvocation,
} from "./invocation.ts";
export {
  type DirectCompletion,
  type TurnPlace,
  directDiscriminator,
  directInvocation,
  triggerInvocation,
  turnInvocation,
} from "./turn-invocation.ts";
export {
  type SignalOrdinal,
  processInvocation,
  processSignalWaitInvocation,
  processSleepInvocation,
} from "./process-invocation.ts";
export {
  batchFailedReply,
  completedReply,
  fillReplies,
  launchCountReply,
  launchesOf,
  pendingAwaitFailure,
  unavailableReply,
} from "./batch-reply.ts";
export { CompletedToolCall, PendingToolCall, ToolCallLaunch } from "./launch.ts";
export { TurnOutcome } from "./turn.ts";
export { activityOf, sessionEventOf } from "./observation.ts";
export { TurnActivity, callCorrelation, pendingWithoutKey } from "@pawl/tool-value";

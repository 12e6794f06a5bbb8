/** `@pawl/runtime/compat`: the reference's envelopes, as an encoding: for hosts that speak to what knows them. */
export { RuntimeEffectEnvelope, envelopeHash } from "./envelope.ts";
export { type NotPerformed, type PerformedCommand, RuntimeEffectCommand, checkPerformed } from "./command.ts";
export { LlmRequest } from "./llm-request.ts";
export { EffectResult, RuntimeEffectOutcome, type WrongOutcome, expectOutcome } from "./outcome.ts";
export { type GrantedProcess, ProcessCommand, ProcessOutcome, commandEffectId } from "./process-effect.ts";
export { RuntimeEffectControllerError, RuntimeError, errorLine } from "./runtime-error.ts";
export { type EnvelopeError, type EnvelopeErrorCode, effectEnvelope, validateEnvelope } from "./validate.ts";
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
  pendingWithoutKey,
  unavailableReply,
} from "./batch-reply.ts";
export { CompletedToolCall, PendingToolCall, ToolCallLaunch } from "./launch.ts";
export { TurnActivity, TurnOutcome, callCorrelation } from "./turn.ts";

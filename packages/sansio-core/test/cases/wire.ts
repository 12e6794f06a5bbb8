import * as i from "../../src/message/invocation.ts";
import * as p from "../../src/message/process.ts";
import { ExecutionScope, SessionScope } from "../../src/identity/scope.ts";
import {
  AwaitEventKey,
  AwaitEventWaitIdentity,
  PreparedToolBatch,
  PreparedToolCall,
  ProviderReplayMeta,
} from "../../src/identity/replay-key.ts";
import { RetryPolicyCodec } from "../../src/catalog/concern.ts";

export const wireCodecs = {
  AwaitEventKey,
  AwaitEventWaitIdentity,
  CausalRef: i.CausalRef,
  ExecutionScope,
  PreparedToolBatch,
  PreparedToolCall,
  ProcessAwaitOutput: p.ProcessAwaitOutput,
  ProcessEvent: p.ProcessEvent,
  ProcessEventAppendRequest: p.ProcessEventAppendRequest,
  ProcessEventType: p.ProcessEventType,
  ProcessExternalRef: p.ExternalRef,
  ProcessHandleSummary: p.ProcessHandleSummary,
  ProcessIdentity: p.ProcessIdentity,
  ProcessInput: p.ProcessInput,
  ProcessOriginator: p.ProcessOriginator,
  ProcessProvenance: p.ProcessProvenance,
  ProcessRecord: p.ProcessRecord,
  ProcessRegistration: p.ProcessRegistration,
  ProcessStatus: p.ProcessStatus,
  ProcessWait: p.ProcessWait,
  ProviderReplayMeta,
  RuntimeEffectKind: i.RuntimeEffectKind,
  RuntimeInvocation: i.RuntimeInvocation,
  RuntimeReplay: i.RuntimeReplay,
  RuntimeScope: i.RuntimeScope,
  RuntimeSubject: i.RuntimeSubject,
  SessionScope,
  ToolRetryPolicy: RetryPolicyCodec,
};

/** Calls from the request to their output, made together in batches, with the effects of their bodies. */
import { array, boolean, json, oneOf, optional, string, ToolCallOutput, u64 } from "@pawl/tool-value";
import { Deadlines } from "../kernel/deadline.ts";
import { PersistentMap } from "../kernel/persistent-map.ts";
import { Table } from "../kernel/table.ts";
import { KeptCodec } from "../about/concern.ts";
import { ReplyCodec } from "../request/model.ts";
import { onExecutors, onToolMissing } from "./recovery/absent-tool.ts";
import {
  onArgsChecked,
  onCancelled,
  onCleanedUp,
  onDispatched,
  onHookRan,
  onPrepared,
  onProjected,
  onResumed,
  onRun,
  onSettled,
  onSettledLate,
} from "./handlers.ts";
import { approvalChecks, batchChecks, callChecks } from "./check.ts";
import { effectChecks } from "./effect/check.ts";
import {
  ArgsVerdictCodec,
  DifferenceCodec,
  DecisionCodec,
  EffectResultCodec,
  EffectSpecCodec,
  HookOutcomeCodec,
  ofFailedTry,
  PatchesCodec,
  ofRun,
  ofSettledCall,
  ofSettledStep,
  ofStream,
  PreparationCodec,
  ResolvedCodec,
  ResumeCauseCodec,
  SignalCodec,
  StepErrorCodec,
} from "./codec.ts";
import type { ApprovalEvent } from "./approval.ts";
import { onDecided } from "./effect/asked-approval.ts";
import {
  inLiveBatch,
  onBatchCounted,
  onBatchCreate,
  onBatchesCancel,
  onBatchesReview,
  onBatchPrepared,
  onBatchTriggered,
  onCallMoved,
  onPreparationEnded,
} from "./batch.ts";
import { onCallsUpgraded, onWaitKept } from "./life.ts";
import { nextCallDue, onCallDue, tidyCallDues } from "./deadlines.ts";
import { onPlaceGranted } from "./queue.ts";
import { onEffectRequested } from "./effect/perform.ts";
import { onCallLeft, onEffectEnd, onEffectReused, onHostAnswered, onRepliesRecorded } from "./effect/settle.ts";
import { checkG1, checkG2, checkG3, onStreamRecorded, onStreamReset, type StreamEvent } from "./effect/stream.ts";
import { onEffectsExpire, onStepFailed, onStepSettled } from "./effect/try.ts";
import { areAtWork, outstandingOfCalls } from "./recovery/owner-lost.ts";
import { onResolved, onVersionsChanged } from "./recovery/unknown.ts";
import {
  onCallsCancel,
  onCallsCreate,
  onCallsDecide,
  onCallsDrop,
  onCallsLaunch,
  onCallsPrepare,
  onOwnersLost,
  onPendingEnd,
} from "./signal.ts";
import { onHostWaiting, onLinkFreed, onSuspended } from "./suspend.ts";
import { type CallEvent, callCommands } from "./vocabulary.ts";
import type { EffectEvent } from "./effect/effect.ts";
import type { CallCommand, CallRows, CallSignal } from "./contract.ts";
import type { Concern } from "../concern.ts";
import { VersionsCodec } from "../scope/model.ts";

export const call: Concern<
  CallRows,
  CallEvent["type"] | ApprovalEvent["type"] | EffectEvent["type"] | StreamEvent["type"],
  CallSignal["type"],
  CallCommand["type"]
> = {
  name: "call",
  events: {
    "hook.ran": {
      fields: {
        call: string,
        phase: oneOf<"before" | "after">("a hook phase", "before", "after"),
        outcome: HookOutcomeCodec,
      },
      on: onHookRan,
    },
    "args.checked": {
      fields: { call: string, args_hash: optional(string), verdict: ArgsVerdictCodec },
      on: onArgsChecked,
    },
    "call.prepared": { fields: { call: string, preparation: PreparationCodec }, on: onPrepared },
    "call.dispatched": { fields: { ...ofRun, owner: string, key: optional(string) }, on: onDispatched },
    "call.settled": {
      fields: ofSettledCall,
      fieldsSince: { left: "waits_for_effects", cause: "lost_runs", patched: "patches" },
      on: onSettled,
    },
    "call.settled_late": { fields: { ...ofRun, output: ToolCallOutput, duration_ms: u64 }, on: onSettledLate },
    "call.suspended": {
      fields: { ...ofRun, parked: optional(string), link: optional(string) },
      fieldsSince: { link: "suspends_every_wait" },
      on: onSuspended,
    },
    "call.resumed": {
      fields: { ...ofRun, cause: ResumeCauseCodec, owner: string, version: optional(string) },
      fieldsSince: { version: "parked_divergence" },
      on: onResumed,
    },
    "call.continued": {
      fields: {
        ...ofRun,
        args: json,
        args_hash: optional(string),
        signals: optional(array(SignalCodec)),
        left: optional(array(string)),
      },
      fieldsSince: { args_hash: "lives", signals: "lives", left: "waits_for_effects" },
      on: onRun,
    },
    "call.diverged": {
      fields: {
        ...ofRun,
        position: u64,
        expected: string,
        found: string,
        version: optional(string),
        differs: optional(DifferenceCodec),
      },
      fieldsSince: { version: "parked_divergence", differs: "parked_divergence" },
      on: onRun,
    },
    "call.cleaned_up": { fields: ofRun, on: onCleanedUp },
    "call.executor_missing": { fields: ofRun, on: onRun },
    "call.tool_missing": { fields: { call: string }, since: "absent_tool_waits", on: onToolMissing },
    "place.granted": { fields: { call: string, attempt: u64 }, since: "queues", on: onPlaceGranted },
    "executors.available": {
      fields: { tools: array(string), versions: optional(VersionsCodec) },
      fieldsSince: { versions: "parked_divergence" },
      on: onExecutors,
    },
    "call.cancelled": { fields: { call: string, by: optional(string) }, on: onCancelled },
    "outcome.resolved": { fields: { call: string, resolved: ResolvedCodec, by: optional(string) }, on: onResolved },
    "result.projected": { fields: { call: string, parts: json }, on: onProjected },
    "approval.decided": {
      fields: {
        call: string,
        decision: DecisionCodec,
        args_hash: string,
        by: string,
        sticky: optional(oneOf<"later" | "parked_too">("a stickiness", "later", "parked_too")),
        decision_id: optional(string),
      },
      on: onDecided,
    },
    "effect.requested": {
      fields: {
        ...ofRun,
        key: string,
        hash: string,
        effect: EffectSpecCodec,
        refused: optional(StepErrorCodec),
        patched: optional(PatchesCodec),
      },
      fieldsSince: { patched: "patches" },
      on: onEffectRequested,
    },
    "step.settled": { fields: ofSettledStep, fieldsSince: { try: "step_retries" }, on: onStepSettled },
    "step.failed": { fields: ofFailedTry, since: "step_retries", on: onStepFailed },
    "host.answered": {
      fields: {
        call: string,
        key: string,
        result: EffectResultCodec,
        seq: optional(u64),
        hash: optional(string),
        keeps: optional(KeptCodec),
      },
      fieldsSince: { seq: "host_answer_names_request", hash: "host_answer_names_request", keeps: "about" },
      on: onHostAnswered,
    },
    "host.waiting": {
      fields: { call: string, key: string, seq: u64, name: string, input: json },
      since: "suspends_every_wait",
      on: onHostWaiting,
    },
    "replies.recorded": {
      fields: { call: string, key: string, replies: array(ReplyCodec), triggers: array(json) },
      on: onRepliesRecorded,
    },
    "stream.recorded": {
      fields: { ...ofStream, chunks: array(json), last: optional(boolean) },
      since: "streams",
      on: onStreamRecorded,
    },
    "stream.reset": { fields: { ...ofStream, keep: optional(u64) }, since: "streams", on: onStreamReset },
    "effect.reused": {
      fields: {
        call: string,
        attempt: u64,
        key: string,
        keys: optional(array(string)),
        patched: optional(PatchesCodec),
      },
      fieldsSince: { keys: "waits_for_effects", patched: "patches" },
      on: onEffectReused,
    },
  },
  signals: {
    "batch.create": { raises: ["calls.create", "calls.prepare"], on: onBatchCreate },
    "calls.create": { raises: [], on: inLiveBatch(onCallsCreate) },
    "calls.prepare": { raises: ["batch.prepared"], on: inLiveBatch(onCallsPrepare) },
    "batch.prepared": { raises: ["calls.launch", "batch.ended"], on: inLiveBatch(onBatchPrepared) },
    "preparation.ended": {
      raises: ["calls.prepare", "calls.launch", "batch.ended"],
      on: inLiveBatch(onPreparationEnded),
    },
    "call.moved": { raises: ["calls.launch", "batch.ended"], on: inLiveBatch(onCallMoved) },
    "calls.launch": { raises: ["batch.counted"], on: inLiveBatch(onCallsLaunch) },
    "batch.counted": { raises: ["batch.ended"], on: inLiveBatch(onBatchCounted) },
    "batch.triggered": { raises: [], on: inLiveBatch(onBatchTriggered) },
    "calls.cancel": {
      raises: ["batch.counted", "call.left", "wait.close", "waits.leave", "effect.end", "link.freed"],
      on: inLiveBatch(onCallsCancel),
    },
    "batches.cancel": { raises: ["calls.cancel"], on: onBatchesCancel },
    "batches.review": { raises: ["calls.launch"], on: onBatchesReview },
    "call.left": { raises: ["calls.drop", "wait.leave"], on: onCallLeft },
    "calls.drop": { raises: ["wait.close", "waits.leave", "link.freed"], on: onCallsDrop },
    "calls.decide": { raises: ["call.moved", "waits.leave"], on: onCallsDecide },
    "owners.lost": {
      raises: ["call.moved", "call.left", "wait.open", "wait.close", "waits.leave", "run.lost", "link.freed"],
      on: onOwnersLost,
    },
    "versions.changed": { raises: ["call.moved"], on: onVersionsChanged },
    "effect.end": { raises: [], on: onEffectEnd },
    "pending.end": { raises: ["call.moved"], on: onPendingEnd },
    "wait.kept": { raises: [], on: onWaitKept },
    "calls.upgraded": { raises: [], on: onCallsUpgraded },
    "effects.expire": { raises: ["wait.leave"], on: onEffectsExpire },
    "link.freed": { raises: [], on: onLinkFreed },
  },
  commands: callCommands,
  due: { next: nextCallDue, tidy: tidyCallDues, on: onCallDue },
  outstanding: outstandingOfCalls,
  isAtWork: areAtWork,
  checks: [...batchChecks, ...callChecks, ...approvalChecks, ...effectChecks, checkG1, checkG2, checkG3],
  rows: {
    batches: Table.empty(),
    calls: Table.empty(),
    awaitingApproval: 0,
    sticky: PersistentMap.empty(),
    deadlines: Deadlines.none,
  },
};

/** Turns: the loop around the model. */
import { array, boolean, dict, json, oneOf, optional, string, text, u32, u64 } from "@pawl/tool-value";
import type { Concern } from "../concern.ts";
import type { Lanes } from "../kernel/digest.ts";
import { type Born, type State, answered, observed } from "../kernel/vocabulary.ts";
import { AgentSpecCodec, OutputFormCodec } from "./agent.ts";
import { onCalled, onEdited } from "./batch-end.ts";
import { askOf } from "./checkpoint.ts";
import { beginNext, onCancel, onEndAll, onSubmitted } from "./turn.ts";
import { PriceCodec, UsageCodec } from "./budget.ts";
import { turnChecks } from "./check.ts";
import {
  CheckVerdictCodec,
  FailureClassCodec,
  FinishCodec,
  FormVerdictCodec,
  LevelAmountsCodec,
  LevelLimitsCodec,
  OutcomeCodec,
  PromptMarkCodec,
  WhenBusyCodec,
} from "./codec.ts";
import { dueOfTurn } from "./conversation.ts";
import type { TurnEvent, TurnSignal } from "./event.ts";
import * as handlers from "./handlers.ts";
import * as model from "./model-event.ts";
import { LimitsCodec } from "../kernel/limit.ts";
import { MessageCodec, PiecesCodec } from "./message.ts";
import type { RunningTurn, TurnCommand, TurnRows } from "./model.ts";
import { noConversation, turnSnapshot } from "./snapshot.ts";
import { onBegin, onRaised, onReturned, onStart } from "./sub-agent.ts";

const since = "turns" as const;
const ofAttempt = { request: string, n: u32, attempt: u32 };
const messages = array(MessageCodec);
const atEnd = ["waits.forget", "process.finish"] as const;
const by = optional(string);

/** Names what the running turn waits for. Of an attempt that was lost the event of its loss has made the next one. */
const questionOf = (state: State, row: RunningTurn): TurnCommand | undefined => {
  const { request, phase } = row;
  switch (phase.type) {
    case "asking":
      return askOf(state, row, phase.call);
    case "loading":
      return { type: "agent.load", agent: phase.agent };
    case "unknown": {
      const { n, attempt, providerId } = phase.call;
      const named = providerId === undefined ? {} : { provider_id: providerId };
      return { type: "model.resolve", request, n, attempt, cause: "owner_lost", ...named };
    }
    case "checking":
      return { type: "turn.check", request, n: phase.n, at: phase.end === undefined ? "before_model" : "before_end" };
    default:
      return undefined;
  }
};

const outstandingOfTurns = (state: State): readonly Born[] => {
  const { running } = state.conversation;
  const command = running === undefined ? undefined : questionOf(state, running);
  return command === undefined ? [] : [{ born: running?.since ?? 0, index: 0, command }];
};

/** An attempt is at work until it ends, or is lost with its owner. */
const isAtWork = (state: State): boolean =>
  state.conversation.running?.phase.type === "stopping" || outstandingOfTurns(state).length > 0;

type Attempt = { readonly request: string; readonly n: number; readonly attempt: number };
const attemptOf = (lanes: Lanes, { request, n, attempt }: Attempt): Lanes =>
  lanes.text(request).number(n).number(attempt);

export const turn: Concern<TurnRows, TurnEvent["type"], TurnSignal["type"], TurnCommand["type"]> = {
  name: "turn",
  events: {
    "agent.published": {
      fields: { agent: string, hash: string, spec: AgentSpecCodec },
      since,
      on: handlers.onPublished,
    },
    "agent.missing": { fields: { agent: string }, since, on: handlers.onMissing },
    "prices.published": {
      fields: { currency: string, prices: dict(PriceCodec), by },
      since,
      on: handlers.onPrices,
    },
    "limits.set": { fields: { limits: LevelLimitsCodec, by }, since, on: handlers.onLimits },
    "frame.opened": {
      fields: { frame: string, agent: optional(string), messages, current: boolean, by },
      since,
      on: handlers.onFrameOpened,
    },
    "turn.submitted": {
      fields: {
        request: string,
        hash: string,
        agent: optional(string),
        messages,
        when_busy: WhenBusyCodec,
        limits: optional(LimitsCodec),
        output: optional(OutputFormCodec),
        execution_scope: optional(string),
        by,
        traceparent: optional(string),
      },
      since,
      on: onSubmitted,
    },
    "model.identified": { fields: { ...ofAttempt, provider_id: text }, since, on: model.onIdentified },
    "model.streamed": { fields: { ...ofAttempt, pieces: PiecesCodec }, since, on: model.onStreamed },
    "model.answered": {
      fields: {
        ...ofAttempt,
        streamed: optional(u32),
        pieces: PiecesCodec,
        finish: FinishCodec,
        usage: UsageCodec,
        provider_id: optional(text),
        model_id: optional(text),
        meta: optional(dict(json)),
        warnings: optional(array(json)),
        verdict: optional(FormVerdictCodec),
        prompt: PromptMarkCodec,
        ms: u64,
      },
      since,
      on: model.onAnswered,
    },
    "model.failed": {
      fields: {
        ...ofAttempt,
        class: FailureClassCodec,
        message: text,
        retry_after_ms: optional(u64),
        pieces: optional(PiecesCodec),
        usage: optional(UsageCodec),
        provider_id: optional(text),
        prompt: PromptMarkCodec,
        ms: u64,
      },
      since,
      on: model.onFailed,
    },
    "model.stopped": {
      fields: { ...ofAttempt, pieces: PiecesCodec, usage: optional(UsageCodec) },
      since,
      on: model.onStopped,
    },
    "model.late": {
      fields: { ...ofAttempt, usage: optional(UsageCodec), provider_id: optional(text) },
      since,
      on: model.onLate,
    },
    "model.resolved": { fields: { ...ofAttempt, outcome: OutcomeCodec, by }, since, on: model.onResolved },
    "turn.checked": {
      fields: { request: string, n: u32, verdict: CheckVerdictCodec, messages: optional(messages) },
      since,
      on: handlers.onChecked,
    },
    "budget.decided": {
      fields: {
        ask: u64,
        decision: oneOf("extend or stop", "extend", "stop"),
        add: optional(LevelAmountsCodec),
        by: string,
        decision_id: optional(string),
      },
      since,
      on: handlers.onDecided,
    },
    "compaction.requested": { fields: { request: optional(string), by }, since, on: handlers.onCompaction },
  },
  signals: {
    "turn.called": { raises: atEnd, on: onCalled },
    "turn.edited": { raises: [], on: onEdited },
    "turn.cancel": { raises: ["batches.cancel", ...atEnd], on: onCancel },
    "turn.lost": { raises: atEnd, on: model.onLost },
    "turns.end": { raises: ["batches.cancel", ...atEnd], on: onEndAll },
    "turns.next": { raises: atEnd, on: beginNext },
    "turn.begin": { raises: atEnd, on: onBegin },
    "agent.start": { raises: ["messages.send"], on: onStart },
    "agent.returned": { raises: [], on: onReturned },
    "agent.raised": { raises: ["messages.send"], on: onRaised },
  },
  commands: {
    "agent.load": { tag: 60, duty: answered("agent.published"), digest: (lanes, { agent }) => lanes.text(agent) },
    "model.ask": {
      tag: 61,
      duty: { performed: "durable", afterLoss: "counted", answeredBy: "model.answered" },
      digest: (lanes, command) => {
        attemptOf(lanes, command).text(command.kind).text(command.key).text(command.frame).text(command.mode);
        lanes.number(command.agent).number(command.route).number(Number(command.tools));
        return command.max_output_tokens === undefined ? lanes.absent() : lanes.number(command.max_output_tokens);
      },
    },
    "model.stop": {
      tag: 62,
      duty: { performed: "at_once", afterLoss: "never", answeredBy: "model.stopped" },
      digest: attemptOf,
    },
    "model.resolve": {
      tag: 63,
      duty: { performed: "durable", afterLoss: "again", answeredBy: "model.resolved" },
      digest: (lanes, command) => attemptOf(lanes, command).text(command.cause),
    },
    "turn.check": {
      tag: 64,
      duty: answered("turn.checked"),
      digest: (lanes, command) => lanes.text(command.request).number(command.n).text(command.at),
    },
    "turn.observe": {
      tag: 65,
      duty: observed,
      digest: (lanes, command) => lanes.text(command.request).text(command.what),
    },
  },
  due: { next: dueOfTurn, on: model.onTurnDue },
  outstanding: outstandingOfTurns,
  isAtWork,
  checks: turnChecks,
  snapshot: turnSnapshot,
  rows: { conversation: noConversation },
};

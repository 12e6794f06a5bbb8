/** Codecs of what events of turns say. */
import {
  type Codec,
  array,
  boolean,
  json,
  oneOf,
  optional,
  record,
  string,
  struct,
  tagged,
  text,
  ToolFailure,
  u32,
} from "@pawl/tool-value";
import { type Amounts, AmountsCodec, type Limits, LimitsCodec } from "../kernel/limit.ts";
import { ReachedCodec, UsageCodec, UsedCodec } from "./budget.ts";
import {
  type CheckVerdict,
  type FailureClass,
  type Finish,
  type FormVerdict,
  type PromptMark,
  type ResolvedOutcome,
  type WhenBusy,
  failureClasses,
  finishReasons,
} from "./event.ts";
import { OutputFormCodec } from "./agent.ts";
import { AnswerPartCodec, MessageCodec, PieceCodec, PiecesCodec } from "./message.ts";
import type { StoppedBecause, TurnEnd } from "./model.ts";

export type { TurnEnd } from "./model.ts";

export const FailureClassCodec: Codec<FailureClass> = oneOf<FailureClass>("a failure class", ...failureClasses);
/** Decodes and encodes what a turn does while another one runs. */
export const WhenBusyCodec: Codec<WhenBusy> = oneOf("when busy", "queue", "join", "interrupt", "replace", "refuse");

export const FinishCodec: Codec<Finish> = record<Finish>("struct Finish", {
  reason: oneOf<Finish["reason"]>("a finish reason", ...finishReasons),
  raw: optional(text),
});

export const PromptMarkCodec: Codec<PromptMark> = record<PromptMark>("struct PromptMark", {
  messages: u32,
  hash: string,
});

const VerdictShape = struct("struct FormVerdict", { valid: optional(boolean), invalid: optional(text) });
/** A verdict is `{valid: true}` or `{invalid: text}`; one that is neither says that nobody has checked. */
export const FormVerdictCodec: Codec<FormVerdict> = VerdictShape as Codec<FormVerdict>;

export const OutcomeCodec: Codec<ResolvedOutcome> = tagged<ResolvedOutcome, "type">("ResolvedOutcome", "type", {
  again: {},
  give_up: {},
  answer: { pieces: PiecesCodec, finish: FinishCodec, usage: UsageCodec, verdict: optional(FormVerdictCodec) },
});

export const CheckVerdictCodec: Codec<CheckVerdict> = tagged<CheckVerdict, "type">("CheckVerdict", "type", {
  go_on: {},
  end: { reason: text },
});

type LevelLimits = { readonly turn?: Limits; readonly session?: Limits };
export const LevelLimitsCodec: Codec<LevelLimits> = record<LevelLimits>("struct LevelLimits", {
  turn: optional(LimitsCodec),
  session: optional(LimitsCodec),
});
type LevelAmounts = { readonly turn?: Amounts; readonly session?: Amounts };
export const LevelAmountsCodec: Codec<LevelAmounts> = record<LevelAmounts>("struct LevelAmounts", {
  turn: optional(AmountsCodec),
  session: optional(AmountsCodec),
});

const ended = { turn: string, frame: string, used: UsedCodec };
const because = oneOf<StoppedBecause>(
  "why a turn stopped",
  "cancelled",
  "budget",
  "incomplete",
  "content_filter",
  "loop",
  "check",
);
/** The fields of a turn that is finished. */
export const finished = {
  text,
  value: optional(json),
  by: optional(string),
  limited: optional(boolean),
};
/** Decodes and encodes how a turn ended. */
export const TurnEndCodec: Codec<TurnEnd> = tagged<TurnEnd, "status">("TurnEnd", "status", {
  finished: { ...ended, ...finished },
  stopped: {
    ...ended,
    because,
    text: optional(text),
    reached: optional(array(ReachedCodec)),
    reason: optional(text),
  },
  failed: {
    ...ended,
    code: string,
    message: optional(text),
    by: optional(string),
    failure: optional(ToolFailure),
    text: optional(text),
  },
  joined: { ...ended, into: string },
});

/** Codecs of what hosts and their clients say of turns. */
export const turnCodecs = {
  message: MessageCodec,
  part: AnswerPartCodec,
  output: OutputFormCodec,
  whenBusy: WhenBusyCodec,
  limits: LimitsCodec,
  amounts: AmountsCodec,
  used: UsedCodec,
  reached: ReachedCodec,
  end: TurnEndCodec,
  piece: PieceCodec,
  pieces: PiecesCodec,
  finish: FinishCodec,
  usage: UsageCodec,
  failureClass: FailureClassCodec,
} as const;

/** Decides what an answer comes to: a failure, calls, another question, or the end of the turn. */
import {
  type Json,
  type ToolCallOutput,
  canonicalJson,
  failureOutput,
  lift,
  parse,
  runtimeFailure,
} from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { unavailable } from "../call/finish.ts";
import type { Draft } from "../kernel/draft.ts";
import { answerBatch } from "../kernel/vocabulary.ts";
import type { NewCall } from "../request/model.ts";
import { type Usage, charge } from "./budget.ts";
import { checkpoint, conclude } from "./checkpoint.ts";
import {
  agentOf,
  append,
  charged,
  conversationOf,
  frameOf,
  inPhase,
  joiners,
  observe,
  put,
  putFrame,
  routeOf,
  endTurn,
  saying,
} from "./conversation.ts";
import type { FailureClass, Finish, FormVerdict } from "./event.ts";
import { failed } from "./failure.ts";
import { type Said, compacted } from "./frame.ts";
import {
  type AnswerPart,
  type Piece,
  approvalRequests,
  argsOf,
  assemble,
  awaitsProvider,
  continued,
  localCalls,
  textOf,
} from "./message.ts";
import type { ModelCall, RunningTurn } from "./model.ts";
import { texts } from "./plan.ts";

/** An answer as it is reported: the pieces that are not on record yet, and what is said of the whole. */
export interface Reported {
  readonly pieces: readonly Piece[];
  readonly finish: Finish;
  readonly usage: Usage;
  readonly verdict?: FormVerdict;
}

/** An answer as it stands on record. */
interface Answer {
  readonly call: ModelCall;
  readonly said: Said;
  readonly parts: readonly AnswerPart[];
  readonly text: string;
  readonly finish: Finish;
  readonly verdict: FormVerdict | undefined;
}

const answerOf = (draft: Draft, call: ModelCall, { pieces, finish, verdict }: Reported): Answer => {
  const parts = continued(call.prefix, assemble([...call.pieces, ...pieces]));
  const said = {
    seq: draft.seq,
    ...(call.prefixed.length === 0 ? {} : { prefix: call.prefixed }),
    ...(call.streamed.length === 0 ? {} : { streamed: call.streamed }),
  };
  return { call, said, parts, text: textOf(parts), finish, verdict };
};

export const chargedForAnswer = (draft: Draft, row: RunningTurn, call: ModelCall, usage: Usage): RunningTurn =>
  charged(row, charge(usage, conversationOf(draft).prices.get(routeOf(row, call.route).model)));

const failureOfFinish: { readonly [reason: string]: FailureClass } = {
  "content-filter": "content_filter",
  error: "provider",
  interrupted: "transport",
};

/** The answer is nothing: no part but empty text, and nothing that it could be an answer to. */
const isEmpty = ({ hasResults }: RunningTurn, { parts, finish }: Answer): boolean =>
  parts.every((part) => part.type === "text" && part.text === "") && (!hasResults || finish.reason === "other");

// The answer of a compaction.

const summarized = (draft: Draft, row: RunningTurn, { call, said, text }: Answer): void => {
  const { range } = call;
  if (range !== undefined) {
    putFrame(draft, compacted(frameOf(draft, row.frame), range, text === "" ? undefined : said));
    const { kept } = frameOf(draft, row.frame);
    observe(draft, row.request, { what: "compacted", upto: range.upto, kept });
  }
  checkpoint(draft, range?.needed === true ? { ...row, compacted: true } : row);
};

// Entries and counts.

const tokensOf = ({ input_tokens: input, output_tokens: output }: Usage): { readonly tokens?: number } =>
  input === undefined && output === undefined ? {} : { tokens: (input ?? 0) + (output ?? 0) };

/** Writes the answer into the frame. */
const enter = (draft: Draft, row: RunningTurn, { call, said }: Answer, usage: Usage): void => {
  const { tokens: _, ...frame } = frameOf(draft, row.frame);
  const { provider } = routeOf(row, call.route);
  const entry = { type: "answer", n: call.n, provider, ...said } as const;
  putFrame(draft, { ...frame, ...tokensOf(usage), entries: [...frame.entries, entry] });
};

type Loop = Pick<RunningTurn, "loop">;

/** Counts how often in a row an answer asks for the same calls, where the agent wants that. */
const looped = (before: RunningTurn["loop"], { parts }: Answer): Loop => {
  const asked = canonicalJson(lift(localCalls(parts).map((call): Json => [call.tool, argsOf(call)])));
  return { loop: { calls: asked, count: before?.calls === asked ? before.count + 1 : 1 } };
};

const isCut = ({ finish, parts }: Answer): boolean => finish.reason === "length" && localCalls(parts).length > 0;

/** The turn with what it counts of its answers. It stays with the route that answered. */
const counted = (before: RunningTurn, answer: Answer): RunningTurn => {
  const { loop, compacted: _, ...row } = before;
  const isCounted = agentOf(row).repeats !== undefined && localCalls(answer.parts).length > 0;
  return {
    ...row,
    ...(isCounted ? looped(loop, answer) : {}),
    route: answer.call.route,
    cuts: isCut(answer) ? row.cuts + 1 : 0,
    hasResults: false,
  };
};

// Calls.

const cutOff: ToolCallOutput = failureOutput(runtimeFailure("invalid_request", "answer_cut", texts.cutOff));

/** Why a call is not made, if so: nothing of an answer that was cut runs, and an agent has its own tools alone. */
const refusalOf = (row: RunningTurn, answer: Answer, tool: string): { readonly refused?: ToolCallOutput } => {
  if (isCut(answer)) return { refused: cutOff };
  return agentOf(row).tools.includes(tool) ? {} : { refused: unavailable() };
};

const newCalls = (row: RunningTurn, answer: Answer): readonly NewCall[] => {
  const { n } = answer.call;
  const calls = localCalls(answer.parts).map((call, i): NewCall => {
    const { tool } = call;
    return { id: `m${n}.${i}`, tool, args: argsOf(call), ...refusalOf(row, answer, tool) };
  });
  const requests = approvalRequests(answer.parts).map((request, j): NewCall => {
    const of = answer.parts.find((part) => part.type === "tool-call" && part.id === request.id);
    const called = of?.type === "tool-call" ? of : undefined;
    const tool = request.tool ?? called?.tool ?? request.id;
    const args = request.args ?? (called === undefined ? null : argsOf(called));
    return { id: `m${n}.a${j}`, tool, args, asks: request.approval_id };
  });
  return [...calls, ...requests];
};

const makeCalls = (draft: Draft, row: RunningTurn, answer: Answer): void => {
  const { n } = answer.call;
  put(draft, inPhase(draft, row, { type: "calling", n, text: answer.text, edited: {} }));
  const calls = newCalls(row, answer);
  draft.raise({
    type: "batch.create",
    ref: answerBatch(row.request, n),
    request: row.request,
    prefix: "",
    turn: true,
    calls,
  });
};

// Ends.

/** The value that a text stands for, where a form is wanted. */
const valueOf = ({ repairs }: RunningTurn, { text, verdict }: Answer): { readonly value?: Json } | undefined => {
  if (repairs === undefined) return {};
  if (verdict === undefined || !("valid" in verdict)) return undefined;
  const parsed = parse(text);
  return E.isRight(parsed) ? { value: parsed.right } : undefined;
};

const misfit = (draft: Draft, row: RunningTurn, { text }: Answer): void =>
  endTurn(draft, row, { status: "failed", code: "output_invalid", ...saying(text) });

const wrappedUp = (draft: Draft, row: RunningTurn, answer: Answer): void => {
  const hasCalls = localCalls(answer.parts).length > 0;
  const value = hasCalls ? {} : valueOf(row, answer);
  if (value === undefined) return misfit(draft, row, answer);
  return endTurn(draft, row, { status: "finished", text: answer.text, ...value, limited: true });
};

/** The answer does not fit the form that is wanted: the model is told, a few times. */
const repair = (draft: Draft, row: RunningTurn, answer: Answer): void => {
  if (row.repaired >= (row.repairs ?? 0)) return misfit(draft, row, answer);
  append(draft, row, { type: "repair", seq: answer.said.seq });
  return checkpoint(draft, { ...row, repaired: row.repaired + 1 });
};

const incomplete = (draft: Draft, row: RunningTurn, { text }: Answer): void =>
  endTurn(draft, row, { status: "stopped", because: "incomplete", ...saying(text) });

const isLooping = (row: RunningTurn): boolean => {
  const { repeats } = agentOf(row);
  return repeats !== undefined && (row.loop?.count ?? 0) >= repeats;
};

/** Goes on from an answer that stands in the frame. The first line that fits decides. */
const goOn = (draft: Draft, row: RunningTurn, answer: Answer): void => {
  const { parts, text } = answer;
  const hasCalls = localCalls(parts).length > 0;
  if (answer.finish.reason === "length" && (!hasCalls || row.cuts >= 2)) return incomplete(draft, row, answer);
  if (isCut(answer)) return makeCalls(draft, row, answer);
  if (row.wrapped) return wrappedUp(draft, row, answer);
  if (isLooping(row)) return endTurn(draft, row, { status: "stopped", because: "loop", ...saying(text) });
  if (hasCalls || approvalRequests(parts).length > 0) return makeCalls(draft, row, answer);
  if (awaitsProvider(parts)) return checkpoint(draft, row);
  const value = valueOf(row, answer);
  if (value === undefined) return repair(draft, row, answer);
  const end = { status: "finished", text, ...value } as const;
  return joiners(draft).length > 0 ? checkpoint(draft, row, end) : conclude(draft, row, end);
};

/** Takes the answer of an attempt; its usage is counted already. */
export const answered = (draft: Draft, row: RunningTurn, call: ModelCall, reported: Reported): void => {
  const { n, attempt } = call;
  const answer = answerOf(draft, call, reported);
  const failure = failureOfFinish[reported.finish.reason];
  const { pieces, finish: ended } = reported;
  if (failure !== undefined) return failed(draft, row, call, { class: failure, message: ended.raw ?? "", pieces });
  observe(draft, row.request, { what: "model_answered", n, attempt });
  if (call.kind === "compact") return summarized(draft, row, answer);
  if (isEmpty(row, answer)) return failed(draft, row, call, { class: "empty", message: "", pieces });
  enter(draft, row, answer, reported.usage);
  return goOn(draft, counted(row, answer), answer);
};

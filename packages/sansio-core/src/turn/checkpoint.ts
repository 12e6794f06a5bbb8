/**
 * The checkpoint: what comes before each new model call, in this order. The turn may be cancelled; limits may be reached, and
 * then nothing below happens; messages that wait to join are taken; the host checks; the frame is compacted, if it is due;
 * and then the model is asked.
 *
 * A model is asked for the n-th model call of a turn, in one or more attempts.
 */
import type { Draft } from "../kernel/draft.ts";
import type { What } from "../kernel/limit.ts";
import { type Reached, reachedIn, verdictOn, type Level, outputCap } from "./budget.ts";
import {
  agentOf,
  append,
  dropWaiting,
  frameOf,
  inPhase,
  joiners,
  levelsOf,
  observe,
  put,
  putFrame,
  routeOf,
  endTurn,
  endWaiting,
  change,
  charged,
  conversationOf,
} from "./conversation.ts";
import { type Range, rangeOf } from "./frame.ts";
import type { ModelCall, PendingEnd, PhaseIn, RunningTurn, TurnCommand } from "./model.ts";
import { Invariant } from "../kernel/error.ts";
import type { State } from "../kernel/vocabulary.ts";
import type { ModelKind } from "./event.ts";

const defaultPercent = 80;
const defaultGroups = 4;

// Compaction.

/** The range that a compaction of the turn's frame would replace. */
export const compactable = (draft: Draft, row: RunningTurn): Range | undefined =>
  rangeOf(frameOf(draft, row.frame), agentOf(row).compaction?.keep_groups ?? defaultGroups);

/** Returns whether the last answer has filled the window of its model as far as the agent allows. */
const isFull = (draft: Draft, row: RunningTurn): boolean => {
  const { compaction } = agentOf(row);
  const { tokens } = frameOf(draft, row.frame);
  const { context_tokens: room } = routeOf(row, row.route);
  if (compaction === undefined || tokens === undefined || room === undefined) return false;
  return tokens * 100 >= room * (compaction.at_percent ?? defaultPercent);
};

/** A wish for a compaction is fulfilled once, or falls away where there is nothing to replace. */
const takeWish = (draft: Draft, row: RunningTurn): boolean => {
  const { wanted, ...frame } = frameOf(draft, row.frame);
  if (wanted === true) putFrame(draft, frame);
  return wanted === true;
};

export const askCompaction = (draft: Draft, row: RunningTurn, range: Range, isNeeded: boolean): void =>
  askNext(draft, row, "compact", { withoutTools: true, range: isNeeded ? { ...range, needed: true } : range });

const withoutTools = ({ wrapped }: RunningTurn): Pick<ModelCall, "withoutTools"> =>
  wrapped ? { withoutTools: true } : {};

/** The end of a checkpoint: a compaction that is due, or the question. */
export const compactOrAsk = (draft: Draft, row: RunningTurn): void => {
  const isWanted = takeWish(draft, row);
  const range = isWanted || isFull(draft, row) ? compactable(draft, row) : undefined;
  if (range !== undefined) askCompaction(draft, row, range, false);
  else askNext(draft, row, "answer", withoutTools(row));
};

// Limits.

/** One more model call, with tools off; no limit is looked at again in this turn. */
const wrapUp = (draft: Draft, row: RunningTurn): void => {
  append(draft, row, { type: "wrap_up" });
  const wrapped = { ...row, wrapped: true };
  askNext(draft, wrapped, "answer", withoutTools(wrapped));
};

/** Returns whether a limit stands in the way; the turn has gone on without the model then. */
const isHeld = (draft: Draft, row: RunningTurn, at: Pick<PhaseIn<"parked">, "call" | "end">, but?: What): boolean => {
  if (row.wrapped) return false;
  const levels = levelsOf(draft, row);
  const reached: readonly Reached[] = reachedIn(levels, but);
  switch (verdictOn(levels, reached)) {
    case "go":
      return false;
    case "fail":
      endTurn(draft, row, { status: "stopped", because: "budget", reached });
      return true;
    case "wrap_up":
      wrapUp(draft, row);
      return true;
    case "ask":
      park(draft, row, reached, at);
      return true;
  }
};

/** Makes the compaction without which there is no answer, unless a limit stands in the way. */
export const compactNeeded = (draft: Draft, row: RunningTurn, range: Range): void => {
  if (!isHeld(draft, row, {})) askCompaction(draft, row, range, true);
};

/** Goes on after the host's check, unless what came meanwhile has reached a limit. */
export const afterCheck = (draft: Draft, row: RunningTurn): void => {
  if (!isHeld(draft, row, {})) compactOrAsk(draft, row);
};

/** Asks for an attempt after a failure, unless what that has cost stands in the way. */
export const askAgain = (draft: Draft, row: RunningTurn, call: ModelCall): void => {
  if (!isHeld(draft, row, { call }, "model_calls")) ask(draft, row, call);
};

// Messages that wait to join.

/** Ends a turn, unless the host's check says otherwise. */
export const conclude = (draft: Draft, row: RunningTurn, end: PendingEnd): void => {
  if (!draft.options.turn_check) return endTurn(draft, row, end);
  const { n } = row;
  put(draft, inPhase(draft, row, { type: "checking", n, end }));
  draft.emit({ type: "turn.check", request: row.request, n, at: "before_end" });
};

export const takeJoiners = (draft: Draft, row: RunningTurn): void => {
  const taken = joiners(draft);
  if (taken.length === 0) return;
  dropWaiting(draft, taken);
  append(draft, row, ...taken.map(({ born: seq }) => ({ type: "user", seq }) as const));
  for (const one of taken) endWaiting(draft, one, { status: "joined", into: row.request });
  observe(draft, row.request, { what: "messages_taken", turns: taken.map(({ request }) => request) });
};

/** `end`: how the turn would end, if no message waited to join it. */
export const checkpoint = (draft: Draft, row: RunningTurn, end?: PendingEnd): void => {
  if (row.cancelled) return endTurn(draft, row, { status: "stopped", because: "cancelled" });
  if (row.wrapped) return compactOrAsk(draft, row);
  if (isHeld(draft, row, end === undefined ? {} : { end })) return;
  takeJoiners(draft, row);
  if (!draft.options.turn_check) return compactOrAsk(draft, row);
  const n = row.n + 1;
  put(draft, inPhase(draft, row, { type: "checking", n }));
  draft.emit({ type: "turn.check", request: row.request, n, at: "before_model" });
};

type Ask = Extract<TurnCommand, { readonly type: "model.ask" }>;

const executionScopeOf = ({ requests }: State, request: string): string => {
  const row = requests.at(request);
  if (row === undefined) throw new Invariant(`turn ${request} has no request`);
  return row.executionScope;
};

/** The command that asks for an attempt: the same when it is asked for, and when a new owner is told of it. */
export const askOf = (state: State, row: RunningTurn, call: ModelCall): Ask => ({
  type: "model.ask",
  request: row.request,
  n: call.n,
  attempt: call.attempt,
  kind: call.kind,
  key: `${executionScopeOf(state, row.request)}:model:${call.n}.${call.failures}`,
  frame: row.frame,
  agent: agentOf(row).seq,
  route: call.route,
  mode: call.mode,
  ...(call.mode === "fetch" && call.providerId !== undefined ? { provider_id: call.providerId } : {}),
  tools: call.withoutTools !== true,
  ...(call.cap === undefined ? {} : { max_output_tokens: call.cap }),
});

/** A limit of cost cannot be held where the model has no price. */
const isUnpriced = (draft: Draft, levels: readonly Level[], model: string): boolean =>
  draft.options.unpriced === "fail" &&
  levels.some(({ limits }) => limits.cost !== undefined) &&
  !conversationOf(draft).prices.has(model);

/** Asks for an attempt. The first of a model call is counted, whatever comes of it. */
export const ask = (draft: Draft, row: RunningTurn, call: ModelCall): void => {
  const { model, max_output_tokens: own } = routeOf(row, call.route);
  const levels = levelsOf(draft, row);
  if (isUnpriced(draft, levels, model)) {
    const message = `a limit of cost stands, and the model \`${model}\` has no price`;
    return endTurn(draft, row, { status: "failed", code: "price_missing", message });
  }
  const { cap: _, ...rest } = call;
  const cap = outputCap(levels, own);
  const bound = cap === undefined ? rest : { ...rest, cap };
  const opened = { ...bound, streamed: [], pieces: [], epoch: draft.scope.epoch, asked: draft.seq };
  const counted = call.attempt === 1 ? charged(row, { model_calls: 1 }) : row;
  put(draft, inPhase(draft, { ...counted, n: call.n }, { type: "asking", call: opened }));
  draft.emit(askOf(draft.state, row, opened));
  const { n, attempt } = call;
  if (attempt > 1) observe(draft, row.request, { what: "model_reset", n, attempt, keep: call.prefix.length });
  observe(draft, row.request, { what: "model_asked", n, attempt });
};

/** Begins the next model call of a turn. */
export const askNext = (
  draft: Draft,
  row: RunningTurn,
  kind: ModelKind,
  more: Pick<ModelCall, "withoutTools" | "range"> = {},
): void =>
  ask(draft, row, {
    kind,
    n: row.n + 1,
    attempt: 1,
    mode: "fresh",
    failures: 0,
    route: row.route,
    onRoute: 0,
    losses: 0,
    streamed: [],
    pieces: [],
    prefix: "",
    prefixed: [],
    epoch: draft.scope.epoch,
    asked: draft.seq,
    ...more,
  });

/** Numbers a question about budgets, and parks the turn until a person decides. */
export const park = (
  draft: Draft,
  row: RunningTurn,
  reached: readonly Reached[],
  at: Pick<PhaseIn<"parked">, "call" | "end">,
): void => {
  const number = conversationOf(draft).asks + 1;
  change(draft, { asks: number });
  put(draft, inPhase(draft, row, { type: "parked", ask: number, reached, since: draft.at, ...at }));
  observe(draft, row.request, { what: "turn_parked", ask: number, reached });
};

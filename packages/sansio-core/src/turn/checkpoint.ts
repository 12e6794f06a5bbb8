/**
 * The checkpoint: what comes before each new model call, in this order. The turn may be cancelled; limits may be reached, and
 * then nothing below happens; messages that wait to join are taken; the host checks; the frame is compacted, if it is due;
 * and then the model is asked.
 */
import type { Draft } from "../kernel/draft.ts";
import type { What } from "../kernel/limit.ts";
import { type Reached, reachedIn, verdictOn } from "./budget.ts";
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
} from "./conversation.ts";
import { ask, askNext, park } from "./ask.ts";
import { type Range, rangeOf } from "./frame.ts";
import type { ModelCall, PendingEnd, PhaseIn, RunningTurn } from "./model.ts";

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

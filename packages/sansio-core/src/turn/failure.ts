/**
 * Attempts that did not lead to an answer. A failure is on record: its key is done with, and the next attempt has another. A
 * loss is not: nobody knows what the provider did, so the next attempt asks under the same key, or fetches the answer that
 * the provider has stored, or goes on from the text that is on record.
 */
import type { Draft } from "../kernel/draft.ts";
import { deadlineIn } from "../kernel/deadline.ts";
import { type Usage, chargeFailed, isMetered } from "./budget.ts";
import { askAgain, checkpoint, compactNeeded, compactable, ask } from "./checkpoint.ts";
import {
  agentOf,
  charged,
  conversationOf,
  frameOf,
  inPhase,
  observe,
  put,
  putFrame,
  routeOf,
  endTurn,
  unheard,
} from "./conversation.ts";
import type { FailureClass } from "./event.ts";
import { compacted } from "./frame.ts";
import { type Piece, assemble, isTextAlone, textOf } from "./message.ts";
import type { ModelCall, RunningTurn } from "./model.ts";

/** These are tried again on their route; the others are not. */
const again: readonly FailureClass[] = [
  "rate_limit",
  "overloaded",
  "transport",
  "timeout",
  "provider",
  "empty",
  "invalid_answer",
  "unknown",
];
/** These are tried once more and no oftener, since the same question is likely to have the same answer. */
const onceMore: readonly FailureClass[] = ["empty", "invalid_answer", "unknown"];
/** These fail on every route. */
const nowhere: readonly FailureClass[] = ["invalid_request", "not_stored"];

/** An attempt that failed, with what is on record of it. */
export interface Failed {
  readonly class: FailureClass;
  readonly message: string;
  readonly retryAfterMs?: number | undefined;
  /** Pieces that stand in the event of the failure itself. */
  readonly pieces?: readonly Piece[];
}

/** Nothing is on record of an attempt that is yet to be asked for. */
const unsaid = { streamed: [], pieces: [] } as const;

/** The next attempt where the text that is on record is gone on with. */
const continuedFrom = (draft: Draft, call: ModelCall, pieces: readonly Piece[]): ModelCall => {
  const own = pieces.length === 0 ? [] : [draft.seq];
  return {
    ...call,
    mode: "continue",
    ...unsaid,
    prefix: call.prefix + textOf(assemble([...call.pieces, ...pieces])),
    prefixed: [...call.prefixed, ...call.streamed, ...own],
  };
};

const mayContinue = (row: RunningTurn, call: ModelCall, pieces: readonly Piece[]): boolean => {
  const all = [...call.pieces, ...pieces];
  if (routeOf(row, call.route).continue !== true || call.kind !== "answer") return false;
  return all.length === 0 ? call.prefix !== "" : isTextAlone(all);
};

const begunAnew = (call: ModelCall): ModelCall => {
  const { providerId: _, ...rest } = call;
  return { ...rest, mode: "fresh", ...unsaid, prefix: "", prefixed: [] };
};

/** The next attempt under another key, on the same route. */
const afterFailure = (draft: Draft, row: RunningTurn, call: ModelCall, pieces: readonly Piece[]): ModelCall => {
  const { providerId: _, ...rest } = call;
  const next = {
    ...rest,
    attempt: call.attempt + 1,
    failures: call.failures + 1,
    onRoute: call.onRoute + 1,
    losses: 0,
  };
  return mayContinue(row, call, pieces) ? continuedFrom(draft, next, pieces) : begunAnew(next);
};

/** How long to wait before the next attempt on this route; undefined where there is none. */
const pauseAfter = (draft: Draft, { onRoute }: ModelCall, { class: of, retryAfterMs }: Failed): number | undefined => {
  const { max_attempts: most, backoff_ms, max_backoff_ms, max_retry_after_ms } = draft.options;
  if (!again.includes(of) || onRoute >= (onceMore.includes(of) ? Math.min(2, most) : most)) return undefined;
  if (retryAfterMs !== undefined) return retryAfterMs > max_retry_after_ms ? undefined : retryAfterMs;
  return Math.min(max_backoff_ms, backoff_ms * 2 ** (onRoute - 1));
};

interface Pause {
  readonly cause: FailureClass | "owner_lost";
  readonly ms: number;
}

const backOff = (draft: Draft, row: RunningTurn, call: ModelCall, { cause, ms }: Pause): void => {
  const due = { ...deadlineIn(draft, ms), key: row.request };
  put(draft, inPhase(draft, row, { type: "backing_off", call, cause, due }));
};

/** The pause between two attempts is over. */
export const onPauseOver = (
  draft: Draft,
  row: RunningTurn,
  call: ModelCall,
  cause: FailureClass | "owner_lost",
): void => {
  if (cause === "owner_lost") ask(draft, row, call);
  else askAgain(draft, row, call);
};

/** A compaction could not be had: what it was to replace is left out where nothing fits with it, and stays otherwise. */
const endCompaction = (draft: Draft, row: RunningTurn, call: ModelCall, of: FailureClass): void => {
  const frame = frameOf(draft, row.frame);
  const isLeftOut = call.range?.needed === true || of === "context_too_long";
  if (isLeftOut && call.range !== undefined) putFrame(draft, compacted(frame, call.range, undefined));
  else {
    const { tokens: _, ...rest } = frame;
    putFrame(draft, rest);
  }
  checkpoint(draft, call.range?.needed === true ? { ...row, compacted: true } : row);
};

/** Ends that are not named after their class: nobody had room for the answer, or asks such a model here. */
const codes: { readonly [of in FailureClass]?: string } = {
  not_stored: "value_not_stored",
  not_found: "model_unavailable",
};

/** No attempt follows: the model call is given up. */
const giveUp = (draft: Draft, row: RunningTurn, call: ModelCall, { class: of, message }: Failed): void => {
  if (call.kind === "compact") return endCompaction(draft, row, call, of);
  if (of === "content_filter") return endTurn(draft, row, { status: "stopped", because: "content_filter" });
  if (of === "empty") return endTurn(draft, row, { status: "failed", code: "empty_response" });
  const code = codes[of] ?? `model_${of}`;
  return endTurn(draft, row, { status: "failed", code, ...(message === "" ? {} : { message }) });
};

/** Goes on after a failure: with a compaction, on the same route, on the next one, or with the end. */
export const failed = (draft: Draft, row: RunningTurn, call: ModelCall, failure: Failed): void => {
  const { class: of, pieces = [] } = failure;
  const told = { what: "model_failed", n: call.n, class: of } as const;
  const range =
    of === "context_too_long" && call.kind === "answer" && row.compacted !== true ? compactable(draft, row) : undefined;
  if (range !== undefined) {
    observe(draft, row.request, { ...told, next: "compact" });
    return compactNeeded(draft, row, range);
  }
  const next = afterFailure(draft, row, call, pieces);
  const pause = pauseAfter(draft, next, failure);
  if (pause !== undefined) {
    observe(draft, row.request, { ...told, next: "again" });
    return pause === 0 ? askAgain(draft, row, next) : backOff(draft, row, next, { cause: of, ms: pause });
  }
  if (call.route + 1 < agentOf(row).routes.length && !nowhere.includes(of)) {
    observe(draft, row.request, { ...told, next: "route" });
    return askAgain(draft, row, { ...begunAnew(next), route: call.route + 1, onRoute: 0 });
  }
  observe(draft, row.request, { ...told, next: "end" });
  return giveUp(draft, row, call, failure);
};

/** A stored answer that is not there is no failure: the model is asked under the same key. */
export const notFound = (draft: Draft, row: RunningTurn, call: ModelCall): void =>
  askAgain(draft, row, begunAnew({ ...call, attempt: call.attempt + 1 }));

/** Counts what a failed attempt was paid for. One that does not say may still be heard of. */
export const chargedForFailure = (
  draft: Draft,
  row: RunningTurn,
  call: ModelCall,
  usage: Usage | undefined,
): RunningTurn => {
  const used = chargeFailed(usage, conversationOf(draft).prices.get(routeOf(row, call.route).model));
  if (usage === undefined || !isMetered(usage)) unheard(draft, row, call);
  return charged(row, used);
};

// Losses.

/** The next attempt after a loss: it fetches what is stored, goes on from what is on record, or asks anew. */
const afterLoss = (draft: Draft, row: RunningTurn, call: ModelCall): ModelCall => {
  const next = { ...call, attempt: call.attempt + 1 };
  if (routeOf(row, call.route).fetch === true && call.providerId !== undefined)
    return { ...next, ...unsaid, mode: "fetch" };
  if (!mayContinue(row, call, [])) return begunAnew(next);
  const { providerId: _, ...rest } = continuedFrom(draft, next, []);
  return { ...rest, failures: call.failures + 1 };
};

const pauseLoss = (draft: Draft, row: RunningTurn, call: ModelCall, pauseMs: number): void => {
  const next = afterLoss(draft, row, call);
  if (pauseMs === 0) ask(draft, row, next);
  else backOff(draft, row, next, { cause: "owner_lost", ms: pauseMs });
};

/** The host says that a lost attempt is to be made again. */
export const askLost = (draft: Draft, row: RunningTurn, call: ModelCall): void => pauseLoss(draft, row, call, 0);

const unknownOutcome = { status: "failed", code: "model_outcome_unknown" } as const;

export const giveUpLost = (draft: Draft, row: RunningTurn): void => endTurn(draft, row, unknownOutcome);

/** The owner of an attempt is gone. Only a crash counts, and has a pause. */
export const lost = (draft: Draft, row: RunningTurn, call: ModelCall, isCrash: boolean): void => {
  unheard(draft, row, call);
  const { model_pauses_ms: pauses, model_resolver: hasResolver } = draft.options;
  if (hasResolver && routeOf(row, call.route).recovery === "ask") {
    put(draft, inPhase(draft, row, { type: "unknown", call }));
    const { n, attempt, providerId } = call;
    const named = providerId === undefined ? {} : { provider_id: providerId };
    return draft.emit({ type: "model.resolve", request: row.request, n, attempt, cause: "owner_lost", ...named });
  }
  if (!isCrash) return pauseLoss(draft, row, call, 0);
  const pause = pauses[call.losses];
  if (pause === undefined) return endTurn(draft, row, unknownOutcome);
  return pauseLoss(draft, row, { ...call, losses: call.losses + 1 }, pause);
};

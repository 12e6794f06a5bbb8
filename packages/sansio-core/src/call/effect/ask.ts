/**
 * Decides a body's request from the record of its call: it is recorded, answered from the log, joined, run again, refused, or
 * it stops the body. One pure function, which drivers obey. Another says why a request cannot be carried out as it is asked
 * for. A step that was under way when its owner was lost runs again, unless it may run only once: then its outcome is unknown.
 */
import type { Draft } from "../../kernel/draft.ts";
import { type Rejection, reject } from "../../kernel/error.ts";
import { missingRule } from "../../kernel/protocol.ts";
import { type EventOf, type State, callRef, effectBatch } from "../../kernel/vocabulary.ts";
import { conflictOfIds } from "../../request/model.ts";
import type { CallIn, CallRow } from "../model.ts";
import { bodyOf } from "../row.ts";
import type { ChildCall, EffectKind, OpenEffect, SettledEffect } from "./effect.ts";

export type Requested = EventOf<"effect.requested">;

/**
 * Tells a driver how to answer a body's request: record it; answer from the log; record first that an earlier attempt's
 * answer is reused; join what is under way; run the step again; say that its outcome is unknown; or stop the body.
 */
export type Ask =
  | { readonly type: "record" }
  | { readonly type: "answer" | "reuse"; readonly effect: SettledEffect }
  | { readonly type: "join" }
  /** `try`: left out for the first. */
  | { readonly type: "run"; readonly try?: number }
  | { readonly type: "unknown" }
  | { readonly type: "diverged"; readonly expected: string; readonly found: string }
  /** The context belongs to a run that is over. */
  | { readonly type: "ended" };

/** A body's request, as its program makes it. */
export interface Asked {
  readonly call: string;
  readonly attempt: number;
  readonly run: number;
  readonly key: string;
  readonly kind: EffectKind;
  readonly hash: string;
}

const mismatch = (record: { readonly kind: EffectKind; readonly hash: string }, asked: Asked): Ask | undefined => {
  if (record.kind === asked.kind && record.hash === asked.hash) return undefined;
  const expected = `${record.kind} \`${asked.key}\` with input ${record.hash}`;
  return { type: "diverged", expected, found: `${asked.kind} \`${asked.key}\` with input ${asked.hash}` };
};

/** A step that failed in an earlier attempt runs again, unless it may run only once. */
export const isForgotten = (effect: SettledEffect, attempt: number): boolean =>
  effect.attempt < attempt && effect.kind === "step" && effect.status === "err" && !effect.once;

/**
 * An open record belongs to this run or to an earlier one: the body joins it, and a step's recovery says how. A step
 * between two tries is waited for as a sleep is.
 */
const askOpen = (effect: OpenEffect, { attempt, run }: Asked): Ask => {
  if (effect.kind !== "step" || effect.due !== undefined) return { type: "join" };
  if (effect.attempt === attempt && effect.run === run) return { type: "join" };
  if (effect.recovery === "once") return { type: "unknown" };
  return effect.try === undefined ? { type: "run" } : { type: "run", try: effect.try };
};

/**
 * Decides what a driver does with a body's request: record it, answer it from the log, run it again, or stop the
 * body.
 */
export const ask = (state: State, asked: Asked): Ask => {
  const row = state.calls.at(asked.call);
  const body = row === undefined ? undefined : bodyOf(row);
  if (body === undefined || body.attempt !== asked.attempt || body.run !== asked.run) return { type: "ended" };
  const open = body.open.find(({ key }) => key === asked.key);
  if (open !== undefined) return mismatch(open, asked) ?? askOpen(open, asked);
  const settled = body.settled.get(asked.key);
  if (settled === undefined || isForgotten(settled, asked.attempt)) return { type: "record" };
  const diverged = mismatch(settled, asked);
  if (diverged !== undefined) return diverged;
  return { type: settled.attempt < asked.attempt ? "reuse" : "answer", effect: settled };
};

export const isOpen = (open: readonly OpenEffect[], key: string): boolean => {
  for (const effect of open) if (effect.key === key) return true;
  return false;
};

/** Names are made of names: a slash in one may lead to where something stands already. */
const conflictOfNames = (
  draft: Draft,
  { call }: CallRow,
  key: string,
  calls: readonly ChildCall[],
): string | undefined => {
  const ref = effectBatch(call.ref, key);
  if (draft.batch(ref) !== undefined) return `there is a batch \`${ref}\` already`;
  const taken = calls
    .map(({ id }) => callRef(call.request, `${call.name}/${key}/${id}`))
    .find((one) => draft.call(one));
  return taken === undefined ? undefined : `there is a call \`${taken}\` already`;
};

const isCleanup = (open: readonly OpenEffect[], key: string): boolean =>
  open.some((effect) => effect.key === key && effect.kind === "cleanup");

/** Returns why a request cannot be carried out as it is asked for. */
export const conflictOfSpec = (
  draft: Draft,
  row: CallIn<"running">,
  { call, key, effect }: Requested,
): Rejection | undefined => {
  if (effect.kind === "batch") {
    const ids = conflictOfIds(effect.calls) ?? conflictOfNames(draft, row, key, effect.calls);
    return ids === undefined ? undefined : reject("call_id_conflict", ids);
  }
  if (effect.kind === "wait" && effect.own !== undefined)
    return missingRule(draft.scope.protocol, "lives", "a wait of a call's own");
  if (effect.kind === "approval") return missingRule(draft.scope.protocol, "asked_approvals", "an approval of a body");
  if (effect.kind !== "select") return undefined;
  if (effect.keys.length === 0) {
    return reject("effect_unknown", `call \`${call}\`: \`${key}\` chooses from nothing, and would never end`);
  }
  const { open, settled } = row.body;
  const cleanup = effect.keys.find((member) => isCleanup(open, member));
  if (cleanup !== undefined) {
    return reject(
      "effect_unknown",
      `\`${cleanup}\` is a clean-up, which a cancel alone answers: choose from something else`,
    );
  }
  const missing = effect.keys.find((member) => !settled.has(member) && !isOpen(open, member));
  return missing === undefined ? undefined : reject("effect_unknown", `nothing is recorded under \`${missing}\``);
};

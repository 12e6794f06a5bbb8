/**
 * Decides a body's request from the record of its call: it is recorded, answered from the log, joined, run again, refused,
 * or it stops the body. One pure function, which drivers obey. A step that was under way when its owner was lost runs
 * again, unless it may run only once: then its outcome is unknown.
 */
import { bodyOf } from "../row.ts";
import type { State } from "../../kernel/vocabulary.ts";
import type { EffectKind, OpenEffect, SettledEffect } from "./effect.ts";

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

/** What becomes of a body's request: one pure function, which drivers obey. */
import { bodyOf } from "./model.ts";
import type { State } from "../kernel/state.ts";
import type { Ask, EffectKind, OpenEffect, SettledEffect } from "./effect-model.ts";

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

/** An open record belongs to this run or to an earlier one: the body joins it, and a step's recovery says how. */
const askOpen = (effect: OpenEffect, { attempt, run }: Asked): Ask => {
  if (effect.kind !== "step") return { type: "join" };
  if (effect.attempt === attempt && effect.run === run) return { type: "join" };
  return { type: effect.recovery === "once" ? "unknown" : "run" };
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

/**
 * The end of a body: of its call, its attempt or its life. A body has ended when what it began outside has, so that no
 * step of it is asked for and never run, and none runs on beside its own second run.
 *
 *   waits for           steps, batches in which a call is at work, requests to the host
 *   does not wait for   what only waits: waits, sleeps, delays of steps, batches in which nothing is at work, the answers of
 *                       processes, clean-ups; and the losers of a select that is decided
 *
 * The rest is called off with the body. After so long the body ends all the same, and says what it left.
 */
import { isQuietBatch } from "./batch.ts";
import type { OpenEffect } from "./effect.ts";
import type { CallIn } from "./model.ts";
import { bodyOf } from "./row.ts";
import type { Draft } from "../kernel/draft.ts";
import { type Rejection, reject } from "../kernel/error.ts";
import { hasRule } from "../kernel/protocol.ts";
import { type CallRef, type State, effectBatch } from "../kernel/vocabulary.ts";

const isAwaited = (state: State, call: CallRef, { kind, key, due, loser }: OpenEffect): boolean => {
  if (loser === true || due !== undefined) return false;
  switch (kind) {
    case "step":
    case "host":
    case "trigger":
      return true;
    case "batch":
      return !isQuietBatch(state, effectBatch(call, key));
    default:
      return false;
  }
};

/** Returns the keys of the open effects that the end of a call's body waits for. A cancelled call waits for its grace only. */
export const awaitedEffects = (state: State, ref: string): readonly string[] => {
  const row = state.calls.at(ref);
  const body = row === undefined ? undefined : bodyOf(row);
  if (row === undefined || body === undefined || body.open.length === 0) return [];
  return body.open
    .filter((effect) => effect.attempt === body.attempt && isAwaited(state, row.call.ref, effect))
    .map(({ key }) => key);
};

interface Ending {
  readonly call: string;
  readonly left?: readonly string[];
}

/** Why a body may not end yet: an effect is open that it waits for, and that it does not say it leaves. */
export const problemOfEnd = (
  draft: Draft,
  { body, cancelled }: CallIn<"running">,
  { call, left = [] }: Ending,
): Rejection | undefined => {
  if (body.open.length === 0 || !hasRule(draft.scope.protocol, "waits_for_effects")) return undefined;
  const stray = left.find((key) => !body.settled.has(key) && !body.open.some((effect) => effect.key === key));
  if (stray !== undefined)
    return reject("effect_unknown", `call \`${call}\` leaves \`${stray}\`, and nothing is recorded under it`);
  if (cancelled !== undefined) return undefined;
  const awaited = awaitedEffects(draft.state, call).filter((key) => !left.includes(key));
  if (awaited.length === 0) return undefined;
  const keys = awaited.map((key) => `\`${key}\``).join(", ");
  return reject(
    "effects_open",
    `call \`${call}\` may not end yet: ${keys} may still settle; wait, or say that it is left`,
  );
};

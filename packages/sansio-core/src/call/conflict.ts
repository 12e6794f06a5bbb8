/** Why what a body asks for may not be recorded. */
import type { CallIn, CallRow } from "./model.ts";
import type { Draft } from "../kernel/draft.ts";
import { type Rejection, reject } from "../kernel/error.ts";
import type { EventOf } from "../kernel/event.ts";
import { callRef, effectBatch } from "../kernel/ids.ts";
import { conflictOfIds } from "../request/model.ts";
import type { ChildCall, OpenEffect } from "./effect-model.ts";

export type Requested = EventOf<"effect.requested">;

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

/** What cannot be carried out as it is asked for. */
export const conflictOfSpec = (
  draft: Draft,
  row: CallIn<"running">,
  { call, key, effect }: Requested,
): Rejection | undefined => {
  if (effect.kind === "batch") {
    const ids = conflictOfIds(effect.calls) ?? conflictOfNames(draft, row, key, effect.calls);
    return ids === undefined ? undefined : reject("call_id_conflict", ids);
  }
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

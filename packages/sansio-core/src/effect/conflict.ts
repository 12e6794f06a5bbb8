/** Why what a body asks for may not be recorded. */
import type { CallIn, CallRow } from "../call/model.ts";
import type { Draft } from "../draft.ts";
import { type Rejection, reject } from "../error.ts";
import type { EventOf } from "../event.ts";
import { callRef, effectBatch } from "../ids.ts";
import { conflictOfIds } from "../request/model.ts";
import { isForgotten } from "./ask.ts";
import type { ChildCall } from "./model.ts";

type Requested = EventOf<"effect.requested">;

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

export const conflict = (draft: Draft, row: CallIn<"running">, event: Requested): Rejection | undefined => {
  const { body } = row;
  const { key, effect } = event;
  const open = body.open.some((other) => other.key === key);
  const settled = body.settled.get(key);
  if (open || (settled !== undefined && !isForgotten(settled, body.attempt))) {
    return reject("effect_exists", `call \`${event.call}\`: \`${key}\` is recorded: answer it, do not record it again`);
  }
  if (effect.kind === "batch") {
    const ids = conflictOfIds(effect.calls) ?? conflictOfNames(draft, row, key, effect.calls);
    return ids === undefined ? undefined : reject("call_id_conflict", ids);
  }
  if (effect.kind === "select" && effect.keys.length === 0) {
    return reject("effect_unknown", `call \`${event.call}\`: \`${key}\` chooses from nothing, and would never end`);
  }
  const isKnown = (member: string): boolean =>
    body.settled.has(member) || body.open.some((other) => other.key === member);
  const missing = effect.kind === "select" ? effect.keys.find((member) => !isKnown(member)) : undefined;
  return missing === undefined ? undefined : reject("effect_unknown", `nothing is recorded under \`${missing}\``);
};

/**
 * Approvals that bodies ask for (`ctx.approve`). A question is an effect of its body: it is open until a person decides,
 * its time is over, or its body goes. The decision is the event `approval.decided`, as for a call that awaits approval, and
 * holds the answer. In it, and in lists of approvals, a question is named like a call below the one that asks it:
 * `{call}/{key}`. So whoever lists and decides approvals need not tell the two apart.
 *
 *   effect.requested ─▶ open ─┬─ approval.decided ─▶ settled: approved, perhaps with other arguments, or rejected
 *                             └─ its time is over ─▶ settled: not approved
 */
import { type ApprovalEvent, onApprovalDecided, problemOfHash } from "../approval.ts";
import type { OpenEffect } from "./effect.ts";
import { bodyOf } from "../row.ts";
import { endEffect } from "./settle.ts";
import type { Draft } from "../../kernel/draft.ts";
import { type Rejection, reject } from "../../kernel/error.ts";
import type { CallRef } from "../../kernel/vocabulary.ts";

interface Asked {
  readonly call: CallRef;
  readonly effect: OpenEffect;
}

/** Finds the open question that goes by a name. */
const askedBy = (draft: Draft, name: string): Asked | undefined => {
  if (draft.call(name as CallRef) !== undefined) return undefined;
  const at = Math.max(name.lastIndexOf("/"), 0);
  const call = name.slice(0, at) as CallRef;
  const row = draft.call(call);
  const open = row === undefined ? [] : (bodyOf(row)?.open ?? []);
  const effect = open.find(({ key, approval }) => approval !== undefined && key === name.slice(at + 1));
  return effect && { call, effect };
};

const onAskedDecided = (draft: Draft, { call, effect }: Asked, event: ApprovalEvent): Rejection | undefined => {
  const stale = problemOfHash(event, effect.approval?.args_hash ?? "");
  if (stale !== undefined) return stale;
  if (event.sticky !== undefined)
    return reject("stale_decision", "a decision on what a body asks holds once: it cannot be sticky");
  endEffect(draft, call, effect.key, { status: "ok", value: draft.seq });
  return undefined;
};

/** A decision is on a call, or on what its body asks. */
export const onDecided = (draft: Draft, event: ApprovalEvent): Rejection | undefined => {
  const asked = askedBy(draft, event.call);
  return asked === undefined ? onApprovalDecided(draft, event) : onAskedDecided(draft, asked, event);
};

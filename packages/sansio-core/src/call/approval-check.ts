/** The invariants of approvals, one function each: what is broken, and in which call. */
import { type CallIn, awaitsApproval } from "./model.ts";
import type { State } from "../kernel/state.ts";

const parked = (state: State): readonly CallIn<"awaiting_approval">[] => state.calls.rows().filter(awaitsApproval);

export const checkA1 = (state: State): string | undefined => {
  const stray = parked(state).find(({ manifest }) => manifest.policy !== "requires_approval");
  return stray === undefined ? undefined : `call \`${stray.call.ref}\`: A1: nobody has to approve it`;
};

/** A call is parked only where no earlier decision speaks for it; a run-again asks whatever was approved before. */
export const checkA2Change = (before: State, after: State): string | undefined => {
  const stray = parked(after).find(({ call, manifest, body }) => {
    if (before.calls.at(call.ref)?.phase === "awaiting_approval") return false;
    const sticky = before.sticky.get(manifest.id)?.decision;
    return sticky === "reject" || (sticky === "approve" && body === undefined);
  });
  return stray === undefined ? undefined : `call \`${stray.call.ref}\`: A2: it is parked against a sticky decision`;
};

export const checkA3 = (state: State): string | undefined => {
  const found = parked(state).length;
  return found === state.awaitingApproval ? undefined : `A3: counts ${state.awaitingApproval} parked calls of ${found}`;
};

export const approvalChecks = [checkA1, checkA3] as const;
export const approvalChangeChecks = [checkA2Change] as const;

/** A person's word on a parked call. */
import { approve, edit } from "./approve.ts";
import { project } from "./finish.ts";
import type { CallIn, CallRow } from "./model.ts";
import { inPhase, isRejection, move } from "./place.ts";
import { rejected } from "./park.ts";
import type { Draft } from "../kernel/draft.ts";
import { type Rejection, reject } from "../kernel/error.ts";
import type { ApprovalEvent, StickyDecision } from "./approval-model.ts";

const decide = (draft: Draft, row: CallIn<"awaiting_approval">, { decision, by }: ApprovalEvent): CallRow => {
  switch (decision.type) {
    case "approve":
      return approve(draft, row);
    case "approve_edited":
      return edit(draft, row, decision, by);
    case "reject":
      return project(draft, row, rejected(decision.reason));
  }
};

/** What later calls are decided by. An edit speaks of one call only. */
const stickyOf = ({ decision, by }: ApprovalEvent): StickyDecision | undefined => {
  if (decision.type === "approve_edited") return undefined;
  return decision.type === "approve"
    ? { decision: "approve", by }
    : { decision: "reject", by, reason: decision.reason };
};

const misfit = (row: CallIn<"awaiting_approval">, event: ApprovalEvent): Rejection | undefined => {
  const { argsHash, edited } = row.approval;
  if (edited !== undefined) return reject("wrong_phase", `call \`${event.call}\`: an edit by ${edited.by} is checked`);
  if (event.args_hash !== argsHash) {
    return reject("stale_decision", `call \`${event.call}\`: expected arguments ${argsHash}, found ${event.args_hash}`);
  }
  if (event.sticky === undefined || event.decision.type !== "approve_edited") return undefined;
  return reject("stale_decision", "an edited approval holds for one call: it can not be sticky");
};

export const onApprovalDecided = (draft: Draft, event: ApprovalEvent): Rejection | undefined => {
  const row = inPhase(draft, event.call, "awaiting_approval");
  if (isRejection(row)) return row;
  const rejection = misfit(row, event);
  if (rejection !== undefined) return rejection;
  move(draft, row, decide(draft, row, event));
  const sticky = event.sticky === undefined ? undefined : stickyOf(event);
  if (sticky === undefined) return undefined;
  draft.setSticky(row.manifest.id, sticky);
  if (event.sticky === "parked_too") draft.raise({ type: "calls.decide", tool: row.manifest.id });
  return undefined;
};

/**
 * An approval: a person's word on a call, given after preparation and before execution.
 *
 *   (prepared) ─▶ awaiting ─▶ approved ─▶ ready
 *                   │  ▲ └──▶ rejected | expired ─▶ finishing
 *                   ▼  │
 *              checking edited arguments (invalid: the decision is refused, the call stays parked)
 *
 * One approval covers all attempts and resumes. A run-again of an unknown outcome asks again.
 *
 * Invariants
 *   A1  a call awaits approval only where its tool requires it
 *   A2  a sticky decision holds for later calls of its tool, and for parked ones only where that was asked for
 *   A3  the state counts the calls that await approval
 */
import type { Json } from "@pawl/tool-value";

export type StickyDecision =
  | { readonly decision: "approve"; readonly by: string }
  | { readonly decision: "reject"; readonly by: string; readonly reason: string };

export type Decision =
  | { readonly type: "approve" }
  /** `args_hash`: of the edited arguments, as whoever reports the decision takes it. */
  | { readonly type: "approve_edited"; readonly args: Json; readonly args_hash?: string }
  | { readonly type: "reject"; readonly reason: string };

export type ApprovalEvent = {
  readonly type: "approval.decided";
  readonly call: string;
  readonly decision: Decision;
  /** Of the arguments that the decider saw. */
  readonly args_hash: string;
  readonly by: string;
  /** Whether the decision holds for later calls of the tool, or for those too that are parked now. */
  readonly sticky?: "later" | "parked_too";
  /** The decider's own name for it, by which it is known again. */
  readonly decision_id?: string;
};

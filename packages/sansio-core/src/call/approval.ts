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
 *   A1  a call awaits approval only where its tool requires it, and has not waived it
 *   A2  a sticky decision holds for later calls of its tool, and for parked ones only where that was asked for
 *   A3  the state counts the calls that await approval, and what bodies ask people
 *
 * A body may ask as well (`ctx.approve`): its question is an effect, which the decision settles. It is named like a call
 * below the one that asks, `{call}/{key}`, so that whoever lists and decides approvals need not tell them apart.
 */
import { type Json, type ToolCallOutput, successOutput } from "@pawl/tool-value";
import type { Decided } from "./contract.ts";
import { denied, internal, observeStart, project } from "./finish.ts";
import { resuming } from "./launch.ts";
import type { Approval, CallIn, CallRow } from "./model.ts";
import type { ArgsVerdict, Preparation } from "./vocabulary.ts";
import { askedCall, awaitsApproval, bodyOf, byBirth, inPhase, isRejection, move } from "./row.ts";
import { fail, preparing, ready } from "./prepare.ts";
import { type Tool, plainTool, waived } from "../catalog/model.ts";
import { deadlineIn } from "../kernel/deadline.ts";
import type { Draft } from "../kernel/draft.ts";
import { type Rejection, reject } from "../kernel/error.ts";
import { hasRule } from "../kernel/protocol.ts";
import type { CallRef, State } from "../kernel/vocabulary.ts";

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
  /** The hash of the arguments that the decider saw. */
  readonly args_hash: string;
  readonly by: string;
  /** Holds for later calls of the tool, or for those too that are parked now. */
  readonly sticky?: "later" | "parked_too";
  /** The decider's own name for it, by which it is known again. */
  readonly decision_id?: string;
};

// A decision, applied to a parked call.

/** The provider runs what was approved: the call is over here. */
const allowed: ToolCallOutput = successOutput(null);

/** Approved: to its first run, or to one more of an outcome that was unknown. */
export const approve = (draft: Draft, row: CallIn<"awaiting_approval">): CallRow => {
  const { body } = row;
  const { payload, argsHash, ofProvider } = row.approval;
  if (ofProvider === true) return project(draft, row, allowed);
  if (body === undefined) return ready(row, payload, argsHash);
  const approved = hasRule(draft.scope.protocol, "lives") ? { ...body, argsHash } : body;
  return resuming(draft, row, { body: approved, cause: "run_again" });
};

/** The model that asked for the call is told what a person made of its arguments. */
const tellEdited = (draft: Draft, { call: { batch, request, name } }: CallRow, args: Json): void => {
  if (draft.batch(batch)?.turn === true) draft.raise({ type: "turn.edited", request, name, args });
};

/** Edited arguments go through the tool's own check, where it has one; they are not hooked again. */
export const edit = (
  draft: Draft,
  row: CallIn<"awaiting_approval">,
  { args, args_hash: argsHash = "" }: Extract<Decision, { readonly type: "approve_edited" }>,
  by: string,
): CallRow => {
  const { manifest, call, approval } = row;
  if (!manifest.checks) {
    observeDecision(draft, { ...row, args }, "approved", by);
    tellEdited(draft, row, args);
    return approve(draft, { ...row, args, approval: { ...approval, argsHash } });
  }
  draft.emit({ type: "args.check", call: call.ref, tool_id: manifest.id, args });
  return { ...row, approval: { ...approval, edited: { args, by } } };
};

/** Valid: approved with the edit. Invalid: the decision is refused, and the call stays parked as it was. */
export const afterEdit = (
  draft: Draft,
  row: CallIn<"awaiting_approval">,
  args: Json,
  { verdict, args_hash }: { readonly verdict: ArgsVerdict; readonly args_hash?: string },
): CallRow => {
  const { edited, ...approval } = row.approval;
  if (verdict.verdict !== "valid") return { ...row, approval };
  if (edited !== undefined) observeDecision(draft, { ...row, args }, "approved", edited.by);
  tellEdited(draft, row, args);
  return approve(draft, { ...row, args, approval: { ...approval, argsHash: args_hash ?? approval.argsHash } });
};

/** Tells observers that a parked call is decided: whoever lists approvals takes it off. */
const observeDecision = (
  draft: Draft,
  { call, tool, args }: CallIn<"awaiting_approval">,
  decision: Decided["decision"],
  by: string,
): void => {
  if (!hasRule(draft.scope.protocol, "decisions_observed")) return;
  const decided = { decision, by };
  draft.emit({ type: "observe", what: "call_decided", call: call.ref, tool, call_id: call.id, args, decided });
};

// Calls that their tool has prepared, and that are parked until a person decides.

const mismatch = (found: string, { id, name }: Tool): ToolCallOutput =>
  internal(
    "prepared_tool_id_mismatch",
    `Tool provider prepared id \`${found}\` for tool \`${name}\`, expected \`${id}\``,
  );

/** The tool has prepared the call: it is ready, or waits for a person's word. */
export const afterPrepare = (draft: Draft, row: CallIn<"preparing">, preparation: Preparation): CallRow => {
  if (preparation.type === "finished") return fail(draft, row, preparation.output);
  const { tool_id, args, args_hash, payload, approval } = preparation;
  if (tool_id !== row.manifest.id) return fail(draft, row, mismatch(tool_id, row.manifest));
  const manifest = approval === "waived" ? waived(row.manifest) : row.manifest;
  const next = { ...row, args, manifest };
  return manifest.policy === "requires_approval"
    ? park(draft, next, { argsHash: args_hash, payload })
    : ready(next, payload, args_hash);
};

/** A call parked on its approval, unless a sticky decision of its tool speaks for it. */
export const park = (
  draft: Draft,
  row: CallIn<"preparing" | "awaiting_approval" | "unknown">,
  approval: Approval,
): CallRow => {
  const body = bodyOf(row);
  const manifest = row.phase === "unknown" ? row.body.manifest : row.manifest;
  const due = manifest.approval_ms === undefined ? undefined : deadlineIn(draft, manifest.approval_ms);
  const { call, tool, args } = row;
  const phase = "awaiting_approval";
  const parked = { call, tool, args, observed: true, phase, manifest, approval, body, due } as const;
  const sticky = draft.sticky.get(manifest.id);
  if (sticky?.decision === "reject") return project(draft, row, rejected(sticky.reason));
  if (sticky?.decision === "approve" && body === undefined)
    return approve(draft, { ...parked, observed: row.observed });
  observeStart(draft, row);
  draft.emit({ type: "observe", what: "call_parked", call: call.ref, tool, call_id: call.id, args });
  return parked;
};

/** Parks the own call of a model's provider. A decision names the request: its arguments cannot be changed here. */
export const askForProvider = (draft: Draft, row: CallIn<"requested">, request: string): CallRow => {
  const manifest = plainTool(row.tool, { id: `provider:${row.tool}`, policy: "requires_approval" });
  return park(draft, preparing(row, manifest, "prepare"), { argsHash: request, payload: null, ofProvider: true });
};

/** Applies a sticky decision to a call that is parked already. */
export const unpark = (draft: Draft, row: CallIn<"awaiting_approval">): CallRow => {
  const sticky = draft.sticky.get(row.manifest.id);
  if (sticky === undefined) return row;
  if (sticky.decision === "reject") {
    observeDecision(draft, row, "rejected", sticky.by);
    return project(draft, row, rejected(sticky.reason));
  }
  if (row.body !== undefined) return row;
  observeDecision(draft, row, "approved", sticky.by);
  return approve(draft, row);
};

export const rejected = (reason: string): ToolCallOutput => denied("approval_rejected", reason);

export const expired: ToolCallOutput = denied("approval_expired", "nobody decided on the call in time");

// The decision comes in.

const decide = (draft: Draft, row: CallIn<"awaiting_approval">, { decision, by }: ApprovalEvent): CallRow => {
  switch (decision.type) {
    case "approve":
      observeDecision(draft, row, "approved", by);
      return approve(draft, row);
    case "approve_edited":
      return edit(draft, row, decision, by);
    case "reject":
      observeDecision(draft, row, "rejected", by);
      return project(draft, row, rejected(decision.reason));
  }
};

/** Returns the decision that later calls are decided by. An edit speaks of one call only. */
const stickyOf = ({ decision, by }: ApprovalEvent): StickyDecision | undefined => {
  if (decision.type === "approve_edited") return undefined;
  return decision.type === "approve"
    ? { decision: "approve", by }
    : { decision: "reject", by, reason: decision.reason };
};

/** Refuses a decision on other arguments than these. */
export const problemOfHash = ({ call, args_hash: found }: ApprovalEvent, expected: string): Rejection | undefined =>
  found === expected
    ? undefined
    : reject("stale_decision", `call \`${call}\`: expected arguments ${expected}, found ${found}`);

const problem = (row: CallIn<"awaiting_approval">, event: ApprovalEvent): Rejection | undefined => {
  const { argsHash, edited } = row.approval;
  if (edited !== undefined) return reject("wrong_phase", `call \`${event.call}\`: an edit by ${edited.by} is checked`);
  const stale = problemOfHash(event, argsHash);
  if (stale !== undefined) return stale;
  const isEdit = event.decision.type === "approve_edited";
  if (isEdit && row.approval.ofProvider === true)
    return reject(
      "edit_not_possible",
      `call \`${event.call}\` is the provider's own: approve it as it is, or reject it`,
    );
  if (event.sticky === undefined || !isEdit) return undefined;
  return reject("stale_decision", "an edited approval holds for one call: it cannot be sticky");
};

export const onApprovalDecided = (draft: Draft, event: ApprovalEvent): Rejection | undefined => {
  const row = inPhase(draft, event.call, "awaiting_approval");
  if (isRejection(row)) return row;
  const rejection = problem(row, event);
  if (rejection !== undefined) return rejection;
  move(draft, row, decide(draft, row, event));
  const sticky = event.sticky === undefined ? undefined : stickyOf(event);
  if (sticky === undefined) return undefined;
  draft.setSticky(row.manifest.id, sticky);
  if (event.sticky === "parked_too") draft.raise({ type: "calls.decide", tool: row.manifest.id });
  return undefined;
};

// Pending approvals, as a person is shown them.

/** A call that waits for approval, or a question of its body to a person. */
export interface PendingApproval {
  readonly call: CallRef;
  readonly tool: string;
  /** The name that whoever asked for it gave it. */
  readonly label: string;
  readonly args: Json;
  /** The hash of the arguments: a decision names it. */
  readonly hash: string;
  /** The event that asked for the call. */
  readonly born: number;
  /** When nobody need decide any more: the call fails then. */
  readonly expiresAt?: number;
  /** The JSON Schema of edited arguments, where a body gives one. */
  readonly schema?: Json;
}

const pendingOf = ({
  call: { ref, id: label, born },
  tool,
  args,
  approval,
  due,
}: CallIn<"awaiting_approval">): PendingApproval => ({
  call: ref,
  tool,
  label,
  args,
  hash: approval.argsHash,
  born,
  ...(due === undefined ? {} : { expiresAt: due.at }),
});

/** Lists what the body of a call asks people. */
const asksOf = (row: CallRow): readonly PendingApproval[] =>
  (bodyOf(row)?.open ?? []).flatMap(({ key, approval, seq, due }) => {
    if (approval === undefined) return [];
    const { title: label, args, args_hash: hash, schema } = approval;
    const asked = { call: askedCall(row.call.ref, key), tool: row.tool, label, args, hash, born: seq };
    const limits = { ...(due && { expiresAt: due.at }), ...(schema === undefined ? {} : { schema }) };
    return [{ ...asked, ...limits }];
  });

/** In the order in which they were asked for: those of a scope, or of one request. */
export const pendingApprovals = ({ calls }: State, request?: string): readonly PendingApproval[] =>
  calls
    .rows()
    .filter(({ call }) => request === undefined || call.request === request)
    .toSorted(byBirth)
    .flatMap((row) => (awaitsApproval(row) ? [...asksOf(row), pendingOf(row)] : asksOf(row)))
    .toSorted((a, b) => a.born - b.born);

/** A person's word on a parked call. What a person decided on is named by its hash; edited arguments are checked again. */
import type { Event, Recorded } from "@pawl/sansio-core";
import type { Decision } from "@pawl/sansio-core/driver";
import { type Json, json, stableHash } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { type Access, decoded, storedForm, missingCall, refuse } from "../scope/access.ts";
import { type ApprovalEdits, isEditing } from "./approval-edit.ts";
import { Refused } from "../error.ts";
import { decodedEvent } from "../scope/round-trip.ts";
import { recordedOf } from "./repeated.ts";

/** Whether a decision holds for later calls of the tool, or for those too that are parked now. */
export type Stickiness = "later" | "parked_too";

interface Decided {
  /** Of the arguments that the decider saw. */
  readonly hash: string;
  readonly by: string;
  readonly sticky?: Stickiness;
  /** The decider's own name for the decision. */
  readonly id?: string;
  /** The decision may have been taken before, and its answer lost: then that is the answer. */
  readonly again?: boolean;
}
export interface Approval extends Decided {
  /** Instead of the arguments that the decider saw. */
  readonly args?: Json;
}
export interface Rejecting extends Decided {
  readonly reason: string;
}

const problemOf = (call: string, event: Event): { readonly code: string; readonly message: string } | undefined => {
  if (event.type !== "args.checked" || event.call !== call)
    return { code: "call_ended", message: `call \`${call}\` was over before its edited arguments were checked` };
  switch (event.verdict.verdict) {
    case "valid":
      return undefined;
    case "invalid":
      return { code: "invalid_tool_args", message: event.verdict.message };
    case "no_contract":
      return { code: "tool_contract_unavailable", message: "Tool contract is unavailable in this session" };
  }
};

/** The check of edited arguments is over, or still to come. */
const awaitCheck = async ({ runner }: Access, edits: ApprovalEdits, call: string, checked?: Event): Promise<void> => {
  const verdict = checked ?? (isEditing(runner.state, call) ? await edits.over(call) : undefined);
  const problem = verdict === undefined ? undefined : problemOf(call, verdict);
  await runner.whenDurable();
  if (problem !== undefined) throw new Refused(problem.code, problem.message);
};

type Decisive = Extract<Event, { readonly type: "approval.decided" }>;

const decisiveTypes = new Set<Event["type"]>(["approval.decided", "args.checked"]);

/** What stands in the log of a decision from this one on, if it was taken before. */
const takenBefore = async (access: Access, call: string, { by, id, again }: Decided): Promise<readonly Recorded[]> => {
  if (again !== true || id === undefined) return [];
  const isIt = (event: Event): event is Decisive =>
    event.type === "approval.decided" && event.call === call && event.by === by && event.decision_id === id;
  const recorded = await recordedOf(access, decisiveTypes);
  const at = recorded.findIndex(({ event }) => isIt(event));
  return at === -1 ? [] : recorded.slice(at);
};

/** The answer to a decision that stands in the log, as its decider would have heard it. */
const answerAgain = async (
  access: Access,
  edits: ApprovalEdits,
  call: string,
  [taken, ...later]: readonly Recorded[],
): Promise<void> => {
  const isEdit = taken?.event.type === "approval.decided" && taken.event.decision.type === "approve_edited";
  if (!isEdit) return access.runner.whenDurable();
  const checked = later.find(({ event }) => event.type === "args.checked" && event.call === call);
  return awaitCheck(access, edits, call, checked?.event);
};

const decide = async (
  access: Access,
  edits: ApprovalEdits,
  call: string,
  decision: Decision,
  by: Decided,
): Promise<void> => {
  const { runner } = access;
  const before = await takenBefore(access, call, by);
  if (before.length > 0) return answerAgain(access, edits, call, before);
  const { hash: args_hash, sticky, id } = by;
  const decided: Event = {
    type: "approval.decided",
    call,
    decision,
    args_hash,
    by: by.by,
    ...(sticky === undefined ? {} : { sticky }),
    ...(id === undefined ? {} : { decision_id: id }),
  };
  const admissible = decodedEvent(decided);
  const stored = decision.type === "approve_edited" ? await storedForm(access, admissible) : undefined;
  const told = runner.apply(admissible, stored);
  if (E.isLeft(told))
    return told.left.code === "call_unknown" ? missingCall(access, call, told.left) : refuse(access, told.left);
  return awaitCheck(access, edits, call);
};

export const approve = (access: Access, edits: ApprovalEdits, call: string, approval: Approval): Promise<void> => {
  if (approval.args === undefined) return decide(access, edits, call, { type: "approve" }, approval);
  const args = decoded(json, approval.args, "args");
  return decide(access, edits, call, { type: "approve_edited", args, args_hash: stableHash(args) }, approval);
};

export const reject = (access: Access, edits: ApprovalEdits, call: string, rejecting: Rejecting): Promise<void> =>
  decide(access, edits, call, { type: "reject", reason: rejecting.reason }, rejecting);

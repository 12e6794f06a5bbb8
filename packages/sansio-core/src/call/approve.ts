/** What a decision makes of a parked call. */
import type { Json } from "@pawl/tool-value";
import type { Decision } from "./approval-model.ts";
import type { Draft } from "../kernel/draft.ts";
import type { ArgsVerdict, CallIn, CallRow } from "./model.ts";
import { resuming } from "./launch.ts";
import { ready } from "./prepare.ts";

/** Approved: to its first run, or to one more of an outcome that was unknown. */
export const approve = (draft: Draft, row: CallIn<"awaiting_approval">): CallRow => {
  const { body } = row;
  const { payload, argsHash } = row.approval;
  return body === undefined ? ready(row, payload, argsHash) : resuming(draft, row, { body, cause: "run_again" });
};

/** Edited arguments go through the tool's own check, where it has one; they are not hooked again. */
export const edit = (
  draft: Draft,
  row: CallIn<"awaiting_approval">,
  { args, args_hash: argsHash = "" }: Extract<Decision, { readonly type: "approve_edited" }>,
  by: string,
): CallRow => {
  const { manifest, call, approval } = row;
  if (!manifest.checks) return approve(draft, { ...row, args, approval: { ...approval, argsHash } });
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
  const { edited: _, ...approval } = row.approval;
  if (verdict.verdict !== "valid") return { ...row, approval };
  return approve(draft, { ...row, args, approval: { ...approval, argsHash: args_hash ?? approval.argsHash } });
};

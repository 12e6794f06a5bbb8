/** Calls that their tool has prepared, and parked on a person's word. */
import { type ToolCallOutput, failureOutput, runtimeFailure } from "@pawl/tool-value";
import type { Tool } from "../catalog/model.ts";
import { deadlineIn } from "../kernel/deadline.ts";
import type { Draft } from "../kernel/draft.ts";
import { observeStart, project } from "./finish.ts";
import { internal } from "./output.ts";
import { type Approval, type CallIn, type CallRow, type Preparation, bodyOf } from "./model.ts";
import { fail, ready } from "./prepare.ts";

const mismatch = (found: string, { id, name }: Tool): ToolCallOutput =>
  internal(
    "prepared_tool_id_mismatch",
    `Tool provider prepared id \`${found}\` for tool \`${name}\`, expected \`${id}\``,
  );

/** The tool has prepared the call: it is ready, or waits for a person's word. */
export const afterPrepare = (draft: Draft, row: CallIn<"preparing">, preparation: Preparation): CallRow => {
  if (preparation.type === "finished") return fail(draft, row, preparation.output);
  const { tool_id, args, args_hash, payload } = preparation;
  const { manifest } = row;
  if (tool_id !== manifest.id) return fail(draft, row, mismatch(tool_id, manifest));
  const next = { ...row, args };
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
  if (sticky?.decision === "approve" && body === undefined) {
    return ready({ ...parked, observed: row.observed }, approval.payload, approval.argsHash);
  }
  observeStart(draft, row);
  draft.emit({ type: "observe", what: "call_parked", call: call.ref, tool, call_id: call.id, args });
  return parked;
};

/** What a sticky decision makes of a call that is parked already. */
export const unpark = (draft: Draft, row: CallIn<"awaiting_approval">): CallRow => {
  const sticky = draft.sticky.get(row.manifest.id);
  if (sticky?.decision === "reject") return project(draft, row, rejected(sticky.reason));
  const { payload, argsHash } = row.approval;
  return sticky === undefined || row.body !== undefined ? row : ready(row, payload, argsHash);
};

const denied = (code: string, message: string): ToolCallOutput =>
  failureOutput({ ...runtimeFailure("permission_denied", code, message), source: "policy" });

export const rejected = (reason: string): ToolCallOutput => denied("approval_rejected", reason);

/** Its tool began to ask for approvals after the call was prepared, and nobody was asked. */
export const unapproved: ToolCallOutput = denied(
  "approval_required",
  "the tool requires approval since the call was prepared: call it again",
);

export const expired: ToolCallOutput = denied("approval_expired", "nobody decided on the call in time");

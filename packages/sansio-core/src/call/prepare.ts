/**
 * Preparation, in this order, each failure ending the call: the tool is there, hooks before the call, its arguments are
 * valid, the tool prepares, a person approves.
 */
import { type Json, type ToolCallOutput, errorOutput, failureOutput, runtimeFailure } from "@pawl/tool-value";
import { type Tool, callableById, callableByName } from "../catalog/model.ts";
import { deadlineIn } from "../deadline.ts";
import type { Draft } from "../draft.ts";
import { internal, observeStart, project, unavailable } from "./finish.ts";
import {
  type Approval,
  type ArgsVerdict,
  type CallIn,
  type CallRow,
  type Directive,
  type HookOutcome,
  type Preparation,
  bodyOf,
} from "./model.ts";

const preparing = (row: CallRow, manifest: Tool, waits: CallIn<"preparing">["waits"]): CallIn<"preparing"> => ({
  call: row.call,
  tool: manifest.name,
  args: row.args,
  observed: row.observed,
  phase: "preparing",
  manifest,
  waits,
});

const fail = (draft: Draft, row: CallRow, output: ToolCallOutput): CallRow => project(draft, row, output);

/** The first beat: the tool, then whatever comes first of hook, check and preparation. */
export const begin = (draft: Draft, row: CallIn<"requested">): CallRow => {
  const { catalog, options } = draft;
  const manifest = row.byId ? callableById(catalog, row.tool) : callableByName(catalog, row.tool);
  if (manifest === undefined) {
    return fail(
      draft,
      row,
      unavailable(row.byId ? `Tool id \`${row.tool}\` is unavailable in this session` : undefined),
    );
  }
  if (row.prepared !== undefined) return begun(draft, row, manifest, row.prepared);
  if (!options.before_hook) return check(draft, row, manifest);
  const next = preparing(row, manifest, "hook");
  draft.emit({ type: "hook.run", call: row.call.ref, phase: "before", tool: next.tool, args: row.args });
  return next;
};

/** It was hooked, checked and prepared where it was made; only a person's word may be wanted here. */
const begun = (draft: Draft, row: CallRow, manifest: Tool, payload: Json): CallRow =>
  manifest.policy === "requires_approval"
    ? prepare(draft, row, manifest)
    : ready(preparing(row, manifest, "prepare"), payload, "");

const check = (draft: Draft, row: CallRow, manifest: Tool): CallRow => {
  if (!manifest.checks) return prepare(draft, row, manifest);
  draft.emit({ type: "args.check", call: row.call.ref, tool_id: manifest.id, args: row.args });
  return preparing(row, manifest, "args");
};

/** An approval names the arguments by their hash, so a tool that needs one is always asked to prepare. */
const prepare = (draft: Draft, row: CallRow, manifest: Tool): CallRow => {
  const next = preparing(row, manifest, "prepare");
  if (!manifest.prepares && manifest.policy !== "requires_approval") return ready(next, null, "");
  draft.emit({ type: "tool.prepare", call: row.call.ref, tool_id: manifest.id, args: row.args });
  return next;
};

/** Ready to be launched, with what the tool prepared and a person saw. */
export const ready = (
  row: CallIn<"preparing" | "awaiting_approval">,
  payload: Json,
  argsHash: string,
): CallIn<"ready"> => ({
  call: row.call,
  tool: row.tool,
  args: row.args,
  observed: row.observed,
  phase: "ready",
  manifest: row.manifest,
  payload,
  argsHash,
});

interface Beforehand {
  readonly args: Json;
  readonly short?: ToolCallOutput;
  readonly stop?: true;
}

/** What a before-hook's directive makes of a call. */
const beforeDirective = (so: Beforehand, directive: Directive): Beforehand => {
  switch (directive.kind) {
    case "replace_tool_args":
      return { ...so, args: directive.args };
    case "short_circuit_tool":
      return { ...so, short: directive.output };
    case "abort_turn":
      return { ...so, short: errorOutput(directive.message) };
    case "enqueue_messages":
      return { ...so, short: errorOutput("before_tool_call does not support message injection") };
    case "create_session":
    case "emit_trace":
      return directive.error === undefined ? so : { ...so, short: errorOutput(directive.error), stop: true };
    case "emit_runtime_events":
      return so;
  }
};

/** A call as its hooks leave it: with other arguments, perhaps; and where it is not to be made, with its output. */
export const hooked = (args: Json, outcome: HookOutcome): { readonly args: Json; readonly short?: ToolCallOutput } => {
  if (outcome.status === "err") return { args, short: internal("before_tool_call_failed", outcome.message) };
  let so: Beforehand = { args };
  for (const directive of outcome.directives) {
    so = beforeDirective(so, directive);
    if (so.stop) break;
  }
  return so;
};

/** The hooks before the call have run: the last short circuit counts, after all directives were applied. */
export const afterBeforeHook = (draft: Draft, row: CallIn<"preparing">, outcome: HookOutcome): CallRow => {
  const { args, short } = hooked(row.args, outcome);
  const next = { ...row, args };
  return short === undefined ? check(draft, next, row.manifest) : fail(draft, next, short);
};

/** Why arguments that were checked end the call, if they do. */
const badArgs = (verdict: ArgsVerdict): ToolCallOutput | undefined => {
  switch (verdict.verdict) {
    case "valid":
      return undefined;
    case "invalid":
      return failureOutput(runtimeFailure("invalid_request", "invalid_tool_args", verdict.message));
    case "no_contract": {
      const message = "Tool contract is unavailable in this session";
      return failureOutput(runtimeFailure("unavailable", "tool_contract_unavailable", message));
    }
  }
};

export const afterCheck = (draft: Draft, row: CallIn<"preparing">, verdict: ArgsVerdict): CallRow => {
  const output = badArgs(verdict);
  return output === undefined ? prepare(draft, row, row.manifest) : fail(draft, row, output);
};

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

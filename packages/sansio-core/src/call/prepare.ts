/**
 * Preparation, in this order, each failure ending the call: the tool is there, hooks before the call, its arguments are
 * valid, the tool prepares, a person approves.
 */
import { type Json, type ToolCallOutput, failureOutput, runtimeFailure } from "@pawl/tool-value";
import { type Tool, callableById, callableByName } from "../catalog/model.ts";
import type { Draft } from "../kernel/draft.ts";
import { project, unavailable } from "./finish.ts";
import type { ArgsVerdict, CallIn, CallRow } from "./model.ts";

export const preparing = (row: CallRow, manifest: Tool, waits: CallIn<"preparing">["waits"]): CallIn<"preparing"> => ({
  call: row.call,
  tool: manifest.name,
  args: row.args,
  observed: row.observed,
  phase: "preparing",
  manifest,
  waits,
});

export const fail = (draft: Draft, row: CallRow, output: ToolCallOutput): CallRow => project(draft, row, output);

/** Its hooks speak before anything else. */
const beforeHooks = (draft: Draft, row: CallRow, manifest: Tool): CallRow => {
  const next = preparing(row, manifest, "hook");
  draft.emit({ type: "hook.run", call: row.call.ref, phase: "before", tool: next.tool, args: row.args });
  return next;
};

/** It was hooked, checked and prepared where it was made; only a person's word may be wanted here. */
const begun = (draft: Draft, row: CallRow, manifest: Tool, payload: Json): CallRow =>
  manifest.policy === "requires_approval"
    ? prepare(draft, row, manifest)
    : ready(preparing(row, manifest, "prepare"), payload, "");

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
  return options.before_hook ? beforeHooks(draft, row, manifest) : check(draft, row, manifest);
};

export const check = (draft: Draft, row: CallRow, manifest: Tool): CallRow => {
  if (!manifest.checks) return prepare(draft, row, manifest);
  draft.emit({ type: "args.check", call: row.call.ref, tool_id: manifest.id, args: row.args });
  return preparing(row, manifest, "args");
};

/** Asks the tool for what it makes of the call, and for the hash of its arguments. */
const askTool = (draft: Draft, row: CallRow, manifest: Tool): CallRow => {
  draft.emit({ type: "tool.prepare", call: row.call.ref, tool_id: manifest.id, args: row.args });
  return preparing(row, manifest, "prepare");
};

/** An approval names the arguments by their hash, so a tool that needs one is always asked to prepare. */
export const prepare = (draft: Draft, row: CallRow, manifest: Tool): CallRow => {
  if (manifest.prepares || manifest.policy === "requires_approval") return askTool(draft, row, manifest);
  return ready(preparing(row, manifest, "prepare"), null, "");
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

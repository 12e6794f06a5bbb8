/**
 * Preparation, in this order, each failure ending the call: the tool is there, hooks before the call, its arguments are
 * valid, the tool prepares, a person approves.
 */
import { type Json, type ToolCallOutput, errorOutput, failureOutput, runtimeFailure } from "@pawl/tool-value";
import { internal, project, unavailable } from "./finish.ts";
import type { CallIn, CallRow } from "./model.ts";
import type { ArgsVerdict, Directive, HookOutcome } from "./vocabulary.ts";
import { type Tool, callableById, callableByName } from "../catalog/model.ts";
import type { Draft } from "../kernel/draft.ts";

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

/** Begins a call that was hooked, checked and prepared where it was made; only an approval may be wanted here. */
const begun = (draft: Draft, row: CallRow, manifest: Tool, payload: Json): CallRow =>
  manifest.policy === "requires_approval"
    ? prepare(draft, row, manifest)
    : ready(preparing(row, manifest, "prepare"), payload, "");

/** The first beat: the tool, then whatever comes first of hook, check and preparation. */
export const begin = (draft: Draft, row: CallIn<"requested">): CallRow => {
  const { catalog, options } = draft;
  if (row.refused !== undefined) return fail(draft, row, row.refused);
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
  row: CallIn<"preparing" | "no_tool" | "awaiting_approval">,
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

export const noContract: ToolCallOutput = failureOutput(
  runtimeFailure("unavailable", "tool_contract_unavailable", "Tool contract is unavailable in this session"),
);

/** Why arguments that were checked end the call, if they do. */
const badArgs = (verdict: ArgsVerdict): ToolCallOutput | undefined => {
  switch (verdict.verdict) {
    case "valid":
      return undefined;
    case "invalid":
      return failureOutput(runtimeFailure("invalid_request", "invalid_tool_args", verdict.message));
    case "no_contract":
      return noContract;
  }
};

export const afterCheck = (draft: Draft, row: CallIn<"preparing">, verdict: ArgsVerdict): CallRow => {
  const output = badArgs(verdict);
  return output === undefined ? prepare(draft, row, row.manifest) : fail(draft, row, output);
};

// Hooks: applied to a call before it runs, and to its output after.

/** Applies an after-hook's directive to a result; undefined: it stays. `stop` ends the list. */
const afterDirective = (
  directive: Directive,
): { readonly output: ToolCallOutput; readonly stop: boolean } | undefined => {
  switch (directive.kind) {
    case "replace_tool_args": {
      const allowed = "abort, short-circuit, session creation, events, and message injection";
      return { output: errorOutput(`after_tool_call only supports ${allowed}`), stop: false };
    }
    case "short_circuit_tool":
      return { output: directive.output, stop: false };
    case "abort_turn":
      return { output: errorOutput(directive.message), stop: false };
    case "create_session":
      return directive.error === undefined
        ? undefined
        : { output: internal("plugin_session_create_failed", directive.error), stop: true };
    case "enqueue_messages":
    case "emit_trace":
      return directive.error === undefined ? undefined : { output: errorOutput(directive.error), stop: true };
    case "emit_runtime_events":
      return undefined;
  }
};

/** The result of a call after its hooks have spoken, in order. */
export const afterHooks = (output: ToolCallOutput, outcome: HookOutcome): ToolCallOutput => {
  if (outcome.status === "err") return internal("after_tool_call_failed", outcome.message);
  let result = output;
  for (const directive of outcome.directives) {
    const change = afterDirective(directive);
    if (change === undefined) continue;
    result = change.output;
    if (change.stop) break;
  }
  return result;
};

interface Beforehand {
  readonly args: Json;
  readonly short?: ToolCallOutput;
  readonly stop?: true;
}

/** Applies a before-hook's directive to a call. */
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

/** What hooks make of a call, before it and after. */
import { type Json, type ToolCallOutput, errorOutput } from "@pawl/tool-value";
import type { Draft } from "../kernel/draft.ts";
import type { CallIn, CallRow, Directive, HookOutcome } from "./model.ts";
import { internal } from "./output.ts";
import { check, fail } from "./prepare.ts";

/** What an after-hook's directive makes of a result; undefined: it stays. `stop` ends the list. */
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

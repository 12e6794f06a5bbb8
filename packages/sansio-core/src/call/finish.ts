/** How a call comes to its end: after-hook, projection, observation. */
import {
  type ToolCallOutput,
  cancelledOutput,
  errorOutput,
  failureOutput,
  runtimeCancellation,
  runtimeFailure,
} from "@pawl/tool-value";
import type { Draft } from "../draft.ts";
import type { CallIn, CallRow, Directive, HookOutcome } from "./model.ts";

type Json = CallRow["args"];

const base = ({ call, tool, args, observed }: CallRow): Pick<CallRow, "call" | "tool" | "args" | "observed"> => ({
  call,
  tool,
  args,
  observed,
});

const told = (
  row: CallRow,
): { readonly call: CallRow["call"]["ref"]; readonly tool: string; readonly call_id: string; readonly args: Json } => ({
  call: row.call.ref,
  tool: row.tool,
  call_id: row.call.id,
  args: row.args,
});

/** Says that the call has started, once. */
export const observeStart = (draft: Draft, row: CallRow): void => {
  if (!row.observed) draft.emit({ type: "observe", what: "call_started", ...told(row) });
};

/** The end itself. A call that ends before it started is observed as both. */
export const complete = (
  draft: Draft,
  row: CallRow,
  { output, durationMs }: Pick<CallIn<"completed">, "output" | "durationMs">,
  parts?: Json,
): CallIn<"completed"> => {
  observeStart(draft, row);
  draft.emit({ type: "observe", what: "call_completed", ...told(row), output, duration_ms: durationMs });
  const done = { ...base(row), observed: true, phase: "completed", output, durationMs } as const;
  return parts === undefined ? done : { ...done, parts };
};

/** The row of a call whose output is there, and no hook's word is wanted: the host's projection, then the end. */
export const project = (draft: Draft, row: CallRow, output: ToolCallOutput, durationMs = 0): CallRow => {
  if (!draft.options.projection) return complete(draft, row, { output, durationMs });
  draft.emit({ type: "result.project", call: row.call.ref, tool: row.tool, output });
  return { ...base(row), phase: "finishing", waits: "projection", output, durationMs };
};

/** The row of a launched call that ends with this output: its hooks speak, then it is projected. */
export const ending = (draft: Draft, row: CallRow, output: ToolCallOutput, durationMs: number): CallRow => {
  if (!draft.options.after_hook) return project(draft, row, output, durationMs);
  const { ref } = row.call;
  draft.emit({
    type: "hook.run",
    call: ref,
    phase: "after",
    tool: row.tool,
    args: row.args,
    output,
    duration_ms: durationMs,
  });
  return { ...base(row), phase: "finishing", waits: "hook", output, durationMs };
};

export const cancelledCall: ToolCallOutput = cancelledOutput(runtimeCancellation("tool call cancelled"));

export const unavailable = (message = "Tool is unavailable in this session"): ToolCallOutput =>
  failureOutput(runtimeFailure("unavailable", "tool_unavailable", message));

export const internal = (code: string, message: string): ToolCallOutput =>
  failureOutput(runtimeFailure("internal", code, message));

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

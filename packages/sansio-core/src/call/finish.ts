/**
 * How a call comes to its end: after-hook, projection, observation; and its output, where its tool gives none. And when
 * a body may end: it has ended when what it began outside has, so that no step of it is asked for and never run, and none runs on
 * beside its own second run.
 *
 *   waits for           steps, batches in which a call is at work, requests to the host
 *   does not wait for   what only waits: waits, sleeps, delays of steps, batches in which nothing is at work, the answers of
 *                       processes, clean-ups; and the losers of a select that is decided
 *
 * The rest is called off with the body. After so long the body ends all the same, and says what it left.
 */
import {
  type ToolCallOutput,
  cancelledOutput,
  failureOutput,
  runtimeCancellation,
  runtimeFailure,
} from "@pawl/tool-value";
import type { CallIn, CallRow, UnknownCause } from "./model.ts";
import type { Draft } from "../kernel/draft.ts";
import { hasRule } from "../kernel/protocol.ts";
import { bodyOf } from "./row.ts";
import { isQuietBatch } from "./batch.ts";
import type { OpenEffect } from "./effect/effect.ts";
import { type Rejection, reject } from "../kernel/error.ts";
import { type CallRef, type State, effectBatch } from "../kernel/vocabulary.ts";

const cancelledCall: ToolCallOutput = cancelledOutput(runtimeCancellation("tool call cancelled"));

/** Lists the clean-ups of a body that nobody has run, or that nobody knows the end of. */
const cleanUpsLeft = (row: CallRow): readonly string[] => {
  const body = bodyOf(row);
  if (body === undefined) return [];
  const open = body.open.filter(({ kind }) => kind === "cleanup").map(({ key }) => key);
  const cleans = "cancelled" in row && row.cancelled?.cleans === true;
  const told = cleans ? [...body.settled].filter(([, { kind }]) => kind === "cleanup") : [];
  return [...told.toSorted(([, a], [, b]) => a.requested - b.requested).map(([key]) => key), ...open];
};

/** Makes the output of a call that ends by a cancel; it names the clean-ups that were registered and could not run. */
export const cancelledOf = (draft: Draft, row: CallRow): ToolCallOutput => {
  const left = hasRule(draft.scope.protocol, "parked_divergence") ? cleanUpsLeft(row) : [];
  if (left.length === 0) return cancelledCall;
  const names = left.map((key) => `\`${key}\``).join(", ");
  return cancelledOutput(runtimeCancellation(`tool call cancelled; its clean-up could not finish: ${names}`));
};

export const internal = (code: string, message: string): ToolCallOutput =>
  failureOutput(runtimeFailure("internal", code, message));

/** Makes the output of a call that nobody allows. */
export const denied = (code: string, message: string): ToolCallOutput =>
  failureOutput({ ...runtimeFailure("permission_denied", code, message), source: "policy" });

/** Its tool began to ask for approvals after the call was prepared, and nobody was asked. */
export const unapproved: ToolCallOutput = denied(
  "approval_required",
  "the tool requires approval since the call was prepared: call it again",
);

// After-hook, projection, observation.

type Json = CallRow["args"];

export const base = ({
  call,
  tool,
  args,
  observed,
}: CallRow): Pick<CallRow, "call" | "tool" | "args" | "observed"> => ({
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

/** Says that the outcome of the call is unknown, and that it waits for whoever decides on it. */
export const observeUnknown = (draft: Draft, row: CallRow, cause: UnknownCause): void =>
  draft.emit({ type: "observe", what: "call_unknown", ...told(row), cause });

/** How a call ended. `cause`: why its outcome is unknown. */
export interface End {
  readonly output: ToolCallOutput;
  readonly durationMs: number;
  readonly cause?: UnknownCause | undefined;
  /** The event that holds the output, where one does. */
  readonly outputAt?: number | undefined;
}

const heldBy = (outputAt: number | undefined): { readonly outputAt?: number } =>
  outputAt === undefined ? {} : { outputAt };

const because = (cause: UnknownCause | undefined): { readonly cause?: UnknownCause } =>
  cause === undefined ? {} : { cause };

/** The end itself. A call that ends before it started is observed as both. */
export const complete = (
  draft: Draft,
  row: CallRow,
  { output, durationMs, cause, outputAt }: End,
  parts?: Json,
): CallIn<"completed"> => {
  observeStart(draft, row);
  const why = because(cause);
  draft.emit({ type: "observe", what: "call_completed", ...told(row), output, ...why, duration_ms: durationMs });
  const held = { ...why, ...heldBy(outputAt) };
  const done = { ...base(row), observed: true, phase: "completed", output, ...held, durationMs } as const;
  return parts === undefined ? done : { ...done, parts };
};

/** The host says what the model is shown of it. */
const askProjection = (draft: Draft, row: CallRow, { output, durationMs, cause, outputAt }: End): CallRow => {
  draft.emit({ type: "result.project", call: row.call.ref, tool: row.tool, output });
  const held = { ...because(cause), ...heldBy(outputAt) };
  return { ...base(row), phase: "finishing", waits: "projection", output, ...held, durationMs };
};

/** The row of a call that has ended, and no hook's word is wanted: the host's projection, then the end. */
export const projectEnd = (draft: Draft, row: CallRow, end: End): CallRow =>
  draft.options.projection ? askProjection(draft, row, end) : complete(draft, row, end);

/** As `projectEnd`, with an outcome that is known. */
export const project = (draft: Draft, row: CallRow, output: ToolCallOutput, durationMs = 0): CallRow =>
  projectEnd(draft, row, { output, durationMs });

/** Its hooks speak on what it came to. */
const runAfterHooks = (draft: Draft, row: CallRow, { output, durationMs, cause, outputAt }: End): CallRow => {
  draft.emit({
    type: "hook.run",
    call: row.call.ref,
    phase: "after",
    tool: row.tool,
    args: row.args,
    output,
    duration_ms: durationMs,
  });
  const held = { ...because(cause), ...heldBy(outputAt) };
  return { ...base(row), phase: "finishing", waits: "hook", output, ...held, durationMs };
};

/** The row of a launched call that ends so: its hooks speak, then it is projected. */
export const endWith = (draft: Draft, row: CallRow, end: End): CallRow =>
  draft.options.after_hook ? runAfterHooks(draft, row, end) : projectEnd(draft, row, end);

/** As `endWith`, with an outcome that is known. */
export const ending = (draft: Draft, row: CallRow, output: ToolCallOutput, durationMs: number): CallRow =>
  endWith(draft, row, { output, durationMs });

/** The event that is handled now, where it holds the output of a call that a turn waits for. */
export const outputHere = (draft: Draft, { call }: CallRow): number | undefined =>
  draft.batch(call.batch)?.turn === true ? draft.seq : undefined;

export const unavailable = (message = "Tool is unavailable in this session"): ToolCallOutput =>
  failureOutput(runtimeFailure("unavailable", "tool_unavailable", message));

const isAwaited = (state: State, call: CallRef, { kind, key, due, loser }: OpenEffect): boolean => {
  if (loser === true || due !== undefined) return false;
  switch (kind) {
    case "step":
    case "host":
    case "trigger":
      return true;
    case "batch":
      return !isQuietBatch(state, effectBatch(call, key));
    default:
      return false;
  }
};

/** Returns the keys of the open effects that the end of a call's body waits for. A cancelled call waits for its grace only. */
export const awaitedEffects = (state: State, ref: string): readonly string[] => {
  const row = state.calls.at(ref);
  const body = row === undefined ? undefined : bodyOf(row);
  if (row === undefined || body === undefined || body.open.length === 0) return [];
  return body.open
    .filter((effect) => effect.attempt === body.attempt && isAwaited(state, row.call.ref, effect))
    .map(({ key }) => key);
};

interface Ending {
  readonly call: string;
  readonly left?: readonly string[];
}

/** Why a body may not end yet: an effect is open that it waits for, and that it does not say it leaves. */
export const problemOfEnd = (
  draft: Draft,
  { body, cancelled }: CallIn<"running">,
  { call, left = [] }: Ending,
): Rejection | undefined => {
  if (body.open.length === 0 || !hasRule(draft.scope.protocol, "waits_for_effects")) return undefined;
  const stray = left.find((key) => !body.settled.has(key) && !body.open.some((effect) => effect.key === key));
  if (stray !== undefined)
    return reject("effect_unknown", `call \`${call}\` leaves \`${stray}\`, and nothing is recorded under it`);
  if (cancelled !== undefined) return undefined;
  const awaited = awaitedEffects(draft.state, call).filter((key) => !left.includes(key));
  if (awaited.length === 0) return undefined;
  const keys = awaited.map((key) => `\`${key}\``).join(", ");
  return reject(
    "effects_open",
    `call \`${call}\` may not end yet: ${keys} may still settle; wait, or say that it is left`,
  );
};

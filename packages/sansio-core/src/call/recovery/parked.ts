/**
 * Calls whose outcome is unknown. They end, or are parked until a resolver or a person decides on them. A version of the
 * tool that diverged, or that crashed again and again, is not begun with their attempt again: another version goes on.
 */
import { type ToolCallOutput, failureOutput, runtimeFailure } from "@pawl/tool-value";
import { endWith, observeUnknown } from "../finish.ts";
import { resuming, versionOf } from "../launch.ts";
import type { BodyState, CallIn, CallRow, FailedVersion, ParkedCause, UnknownCause } from "../model.ts";
import { hasFailed, withoutRoom } from "../row.ts";
import { deadlineIn } from "../../kernel/deadline.ts";
import type { Draft } from "../../kernel/draft.ts";
import { hasRule } from "../../kernel/protocol.ts";

const reasons: { readonly [C in UnknownCause]: string } = {
  owner_lost: "its owner was lost while it ran",
  crash_loop: "its owner was lost again and again while it ran",
  diverged: "its program no longer asks what its log records",
};

const unknownOutcome = (tool: string, why: string): ToolCallOutput =>
  failureOutput(runtimeFailure("external", "tool_outcome_unknown", `the outcome of \`${tool}\` is unknown: ${why}`));

export const durationOf = (draft: Draft, body: BodyState): number => draft.at - body.startedAt;

/** Ends a call whose outcome nobody knows. The cause stands beside the output where the protocol has a field for it. */
export const endUnknown = (draft: Draft, row: CallRow, body: BodyState, cause: UnknownCause): CallRow => {
  const output = unknownOutcome(row.tool, reasons[cause]);
  const end = { output, durationMs: durationOf(draft, body) };
  return endWith(draft, row, hasRule(draft.scope.protocol, "crash_loops") ? { ...end, cause } : end);
};

/** Leaves a call to a resolver or a person. */
const unknown = (draft: Draft, row: CallRow, body: BodyState, cause: UnknownCause): CallIn<"unknown"> => {
  const { call, tool, args, observed } = row;
  if (draft.options.resolver) draft.emit({ type: "outcome.resolve", call: call.ref, cause, tool });
  return { call, tool, args, observed, phase: "unknown", body: withoutRoom(body), cause, due: undefined };
};

/** Asks the host's resolver; without one the call ends. */
export const outcomeUnknown = (draft: Draft, row: CallRow, body: BodyState, cause: UnknownCause): CallRow =>
  draft.options.resolver ? unknown(draft, row, body, cause) : endUnknown(draft, row, body, cause);

/** Parks a call until somebody decides on it, or another version of its tool is there. */
export const parked = (draft: Draft, row: CallRow, body: BodyState): CallIn<"unknown"> => {
  const { cause = "diverged" } = body.failed.at(-1) ?? {};
  const { divergence_ms: ms } = draft.options;
  const due = cause === "diverged" && ms !== undefined ? deadlineIn(draft, ms) : undefined;
  const next = { ...unknown(draft, row, body, cause), due };
  observeUnknown(draft, row, cause);
  return next;
};

/** Returns whether a version of the tool is here that an attempt was not tried with. */
export const isHealable = (draft: Draft, body: BodyState): boolean => {
  const version = versionOf(draft, body.manifest);
  return version !== undefined && !hasFailed(body, version);
};

/** Starts another run of a body, in a version that it was not tried with. */
export const healed = (draft: Draft, row: CallRow, body: BodyState): CallIn<"resuming"> =>
  resuming(draft, row, { body, cause: "other_version" });

/**
 * Gives up on a version of the tool for this attempt: another one goes on with the call where there is one, and else the
 * call is parked.
 */
export const withoutVersion = (
  draft: Draft,
  row: CallRow,
  body: BodyState,
  { cause, version = body.version ?? "" }: { readonly cause: ParkedCause; readonly version?: string | undefined },
): CallRow => {
  const failed: FailedVersion = { version, cause };
  const after = { ...body, failed: [...body.failed, failed] };
  return isHealable(draft, after) ? healed(draft, row, after) : parked(draft, row, after);
};

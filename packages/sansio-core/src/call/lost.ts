/** Running calls whose owner is lost: what most of them do then. All else is in `recover.ts`. */
import { type ToolCallOutput, failureOutput, runtimeFailure } from "@pawl/tool-value";
import { recoveryOf } from "../catalog/model.ts";
import type { Draft } from "../draft.ts";
import { late } from "../part/needed.ts";
import { ending } from "./finish.ts";
import { resuming } from "./launch.ts";
import type { BodyState, CallIn, CallRow } from "./model.ts";

export const unknownOutcome = (tool: string, why: string): ToolCallOutput =>
  failureOutput(runtimeFailure("external", "tool_outcome_unknown", `the outcome of \`${tool}\` is unknown: ${why}`));

export const durationOf = (draft: Draft, body: BodyState): number => draft.at - body.startedAt;

/** A run that may be repeated begins again, for the first time without a pause; of another nobody knows the outcome. */
export const lose = (draft: Draft, row: CallIn<"running">): CallRow => {
  const { body, cancelled, key } = row;
  const { resolver, resume_pauses_ms: pausesMs } = draft.options;
  const isRerun = recoveryOf(body.manifest) === "rerunnable";
  if (cancelled === undefined && isRerun && pausesMs[body.resumes] === 0)
    return resuming(draft, row, { body: { ...body, resumes: body.resumes + 1 }, cause: "owner_lost" });
  if (cancelled !== undefined || isRerun || resolver || key !== undefined) return late.code.lose(draft, row);
  return ending(draft, row, unknownOutcome(row.tool, "its owner was lost while it ran"), durationOf(draft, body));
};

/** The invariants of calls, one function each: what is broken, and in which call. */
import type { Check } from "../concern.ts";
import type { State } from "../kernel/state.ts";
import { type CallPhase, type CallRow, bodyOf } from "./model.ts";

const firstOf = (state: State, broken: (row: CallRow) => string | undefined): string | undefined => {
  for (const row of state.calls.rows()) {
    const what = broken(row);
    if (what !== undefined) return `call \`${row.call.ref}\` (${row.phase}): ${what}`;
  }
  return undefined;
};

export const checkC1: Check = (state) =>
  firstOf(state, ({ call }) => {
    const batch = state.batches.at(call.batch);
    if (batch === undefined) return `C1: its batch \`${call.batch}\` is not live`;
    const listed = batch.calls[call.index];
    return listed === call.ref ? undefined : `C1: its batch lists \`${listed}\` at ${call.index}`;
  });

export const checkC2: Check = (state) =>
  firstOf(state, (row) => {
    const body = bodyOf(row);
    if (body === undefined || (body.attempt >= 1 && body.run >= 1 && body.resumes >= 0)) return undefined;
    return `C2: attempt ${body.attempt}, run ${body.run}, ${body.resumes} resumes`;
  });

const attemptsOf = (row: CallRow): readonly [attempt: number, run: number] => {
  const body = bodyOf(row);
  return body === undefined ? [0, 0] : [body.attempt, body.run];
};

/** The other half of C2: what may never fall from one event to the next. */
export const checkC2Change = (before: State, after: State): string | undefined =>
  firstOf(after, (row) => {
    const earlier = before.calls.at(row.call.ref);
    if (earlier === undefined || earlier === row || earlier.call.born !== row.call.born) return undefined;
    if (bodyOf(row) === undefined) return undefined;
    const [attempt, run] = attemptsOf(row);
    const [attemptBefore, runBefore] = attemptsOf(earlier);
    const isFallen = attempt < attemptBefore || (attempt === attemptBefore && run < runBefore);
    return isFallen ? `C2: fell from attempt ${attemptBefore}, run ${runBefore} to ${attempt}, ${run}` : undefined;
  });

/** Phases before anybody was told of the call, and those after. Others may be either. */
const unobserved: ReadonlySet<CallPhase> = new Set(["requested", "preparing"]);
const either: ReadonlySet<CallPhase> = new Set(["ready", "finishing"]);

export const checkC3: Check = (state) =>
  firstOf(state, ({ phase, observed }) => {
    if (either.has(phase) || observed === !unobserved.has(phase)) return undefined;
    return observed ? "C3: it was observed before it started" : "C3: nobody was told that it started";
  });

export const checkC4: Check = (state) =>
  firstOf(state, (row) => {
    const body = bodyOf(row);
    const both = body?.open.find(({ key }) => body.settled.has(key));
    return both === undefined ? undefined : `C4: \`${both.key}\` is open and settled`;
  });

export const checkC5: Check = (state) =>
  firstOf(state, (row) => {
    const open = bodyOf(row)?.open ?? [];
    const late = open.find(({ seq }, i) => i > 0 && seq <= (open[i - 1]?.seq ?? 0));
    return late === undefined ? undefined : `C5: \`${late.key}\` of ${late.seq} stands too late`;
  });

export const checkC6: Check = (state) =>
  firstOf(state, (row) => {
    if (row.phase !== "backing_off") return undefined;
    const stray = row.body.open.find(({ recovery }) => recovery !== "once");
    return stray === undefined ? undefined : `C6: \`${stray.key}\` is open between two attempts`;
  });

const approvedPhases: ReadonlySet<CallPhase> = new Set(["ready", "running", "resuming"]);
const needsApproval = (row: CallRow): boolean =>
  (row.phase === "ready" && row.manifest.policy === "requires_approval") ||
  bodyOf(row)?.manifest.policy === "requires_approval";

/** A call passes its approval, or a sticky one passes for it. */
export const checkC7Change = (before: State, after: State): string | undefined =>
  firstOf(after, (row) => {
    if (!approvedPhases.has(row.phase) || !needsApproval(row)) return undefined;
    const earlier = before.calls.at(row.call.ref);
    if (earlier !== undefined && (earlier.phase === "awaiting_approval" || needsApproval(earlier))) return undefined;
    const tool = row.phase === "ready" ? row.manifest.id : (bodyOf(row)?.manifest.id ?? "");
    return after.sticky.get(tool)?.decision === "approve" ? undefined : "C7: nobody approved it";
  });

export const checkC8: Check = (state) =>
  firstOf(state, (row) => {
    if (!("cancelled" in row) || row.cancelled === undefined) return undefined;
    const { open } = row.body;
    const untold = open.find(({ kind }) => kind === "cleanup");
    if (untold !== undefined) return `C8: nobody told \`${untold.key}\` that it was cancelled`;
    const { cleans, due } = row.cancelled;
    const mayLast = cleans || row.phase === "resuming" || open.some(({ kind }) => kind === "batch");
    if (due === undefined && !mayLast) return "C8: it was told to stop, and has no end";
    return due !== undefined && (cleans || row.phase === "resuming")
      ? "C8: its grace runs while it cleans up"
      : undefined;
  });

export const callChecks: readonly Check[] = [checkC1, checkC2, checkC3, checkC4, checkC5, checkC6, checkC8];
export const callChangeChecks = [checkC2Change, checkC7Change] as const;

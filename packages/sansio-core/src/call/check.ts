/** The invariants of calls, batches and approvals, one function each: what is broken, and where. */
import { firstBroken } from "../kernel/error.ts";
import { type BatchRow, nextOf } from "./batch.ts";
import { checkC12Change } from "./recovery/owner-lost.ts";
import { checkC9, checkC9Change } from "./life.ts";
import { checkC13 } from "./recovery/unknown.ts";
import type { CallIn, CallPhase, CallRow } from "./model.ts";
import { awaitsApproval, bodyOf, occupies } from "./row.ts";
import { approvalsOf } from "../kernel/draft.ts";
import type { Check } from "../concern.ts";
import type { State } from "../kernel/vocabulary.ts";
import { unansweredOf } from "../link/model.ts";

const firstOf = (state: State, broken: (row: CallRow) => string | undefined): string | undefined =>
  firstBroken(state.calls.rows(), (row) => `call \`${row.call.ref}\` (${row.phase})`, broken);

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
const either: ReadonlySet<CallPhase> = new Set(["ready", "no_tool", "queued", "finishing"]);

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
    const invalid = row.body.open.find(({ recovery }) => recovery !== "once");
    return invalid === undefined ? undefined : `C6: \`${invalid.key}\` is open between two attempts`;
  });

const approvedPhases: ReadonlySet<CallPhase> = new Set(["ready", "running", "resuming"]);
const needsApproval = (row: CallRow): boolean =>
  ((row.phase === "ready" || row.phase === "queued" || (row.phase === "no_tool" && row.waits === "launch")) &&
    row.manifest.policy === "requires_approval") ||
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

/** A batch may have gone on meanwhile: what starts in it wakes nobody above. */
export const checkC10: Check = (state) =>
  firstOf(state, (row) => {
    if (row.phase !== "suspended") return undefined;
    const { open, attempt } = row.body;
    const busy = open.find((effect) => {
      const { kind, waiting } = effect;
      return kind === "step"
        ? effect.attempt === attempt && effect.due === undefined
        : (kind === "host" || kind === "trigger") && waiting === undefined;
    });
    return busy === undefined ? undefined : `C10: its ${busy.kind} \`${busy.key}\` is under way`;
  });

export const checkC11: Check = (state) =>
  firstOf(state, (row) => {
    const room = bodyOf(row)?.room;
    if (room !== undefined && row.phase !== "running" && row.phase !== "resuming")
      return `C11: room in the link to \`${room}\` is kept for a body that is ${row.phase}`;
    const to = row.phase === "suspended" ? row.link?.to : undefined;
    if (to === undefined) return undefined;
    const kept = state.calls.rows().filter((other) => bodyOf(other)?.room === to).length;
    const taken = unansweredOf(state.links.get(to) ?? {}) + kept;
    const max = state.scope.options.max_unanswered;
    return taken < max
      ? `C11: it waits for room among ${max} messages to \`${to}\`, of which ${taken} are taken`
      : undefined;
  });

export const callChecks: readonly Check[] = [
  checkC1,
  checkC2,
  checkC3,
  checkC4,
  checkC5,
  checkC6,
  checkC8,
  checkC9,
  checkC10,
  checkC11,
  checkC13,
];
export const callChangeChecks = [checkC2Change, checkC7Change, checkC9Change, checkC12Change] as const;

const firstBatch = (state: State, broken: (row: BatchRow) => string | undefined): string | undefined =>
  firstBroken(state.batches.rows(), (row) => `batch \`${row.ref}\` (${row.phase})`, broken);

const callsOf = (state: State, { calls }: BatchRow): readonly CallRow[] =>
  calls.flatMap((ref) => state.calls.at(ref) ?? []);

export const checkB1: Check = (state) =>
  firstBatch(state, (batch) => {
    for (const [index, ref] of batch.calls.entries()) {
      const row = state.calls.at(ref);
      if (row === undefined) return `B1: its call \`${ref}\` is not live`;
      if (row.call.batch !== batch.ref || row.call.index !== index) return `B1: its call \`${ref}\` is of another`;
    }
    return undefined;
  });

export const checkB2: Check = (state) =>
  firstBatch(state, (batch) => {
    const unfinished = callsOf(state, batch).filter(({ phase }) => phase !== "completed").length;
    return unfinished === batch.unfinished ? undefined : `B2: counts ${batch.unfinished} unfinished of ${unfinished}`;
  });

export const checkB3: Check = (state) =>
  firstBatch(state, (batch) => {
    const occupied = callsOf(state, batch).filter(occupies).length;
    return occupied === batch.occupied ? undefined : `B3: counts ${batch.occupied} slots taken of ${occupied}`;
  });

/** Where an answer from outside wakes a call that had left its slot, it takes one whether there is one or not. */
const isWoken = (before: State, row: CallRow): boolean => {
  const phase = before.calls.at(row.call.ref)?.phase;
  return occupies(row) && (phase === "unknown" || phase === "awaiting_approval");
};

export const checkB4Change = (before: State, after: State): string | undefined => {
  const { concurrency } = after.scope.options;
  if (concurrency === null) return undefined;
  return firstBatch(after, (batch) => {
    const allowed = Math.max(concurrency, before.batches.at(batch.ref)?.occupied ?? 0);
    if (batch.occupied <= allowed) return undefined;
    const woken = callsOf(after, batch).filter((row) => isWoken(before, row)).length;
    return batch.occupied <= allowed + woken ? undefined : `B4: ${batch.occupied} calls run at once of ${allowed}`;
  });
};

/** Phases of calls in a batch that is cancelling: bodies that were told, and calls on their way out. */
const leaving: ReadonlySet<CallPhase> = new Set(["running", "resuming", "finishing", "completed"]);

export const checkB5: Check = (state) =>
  firstBatch(state, (batch) => {
    if (batch.phase !== "cancelling") return undefined;
    const invalid = callsOf(state, batch).find(
      (row) => !leaving.has(row.phase) || ("cancelled" in row && row.cancelled === undefined),
    );
    return invalid === undefined ? undefined : `B5: its call \`${invalid.call.ref}\` is ${invalid.phase}`;
  });

export const checkB6: Check = (state) =>
  firstBatch(state, ({ phase, prepared, calls, unfinished }) => {
    const isPrepared = phase !== "preparing" || prepared === calls.length;
    const isOver = isPrepared && unfinished === 0;
    return isOver === (phase === "ended") ? undefined : `B6: ${prepared} prepared, ${unfinished} unfinished`;
  });

export const checkB7: Check = (state) =>
  firstOf(state, (row) => {
    if ((row.phase !== "requested" && row.phase !== "ready") || row.due === undefined) return undefined;
    const batch = state.batches.at(row.call.batch);
    const next = batch && nextOf(batch);
    return next === row.call.ref ? undefined : `B7: it is due, and its batch goes on from \`${next}\``;
  });

export const batchChecks: readonly Check[] = [checkB1, checkB2, checkB3, checkB5, checkB6, checkB7];
export const batchChangeChecks = [checkB4Change] as const;

const parked = (state: State): readonly CallIn<"awaiting_approval">[] => state.calls.rows().filter(awaitsApproval);

export const checkA1 = (state: State): string | undefined => {
  const invalid = parked(state).find(({ manifest }) => manifest.policy !== "requires_approval");
  return invalid === undefined ? undefined : `call \`${invalid.call.ref}\`: A1: nobody has to approve it`;
};

/** A call is parked only where no earlier decision speaks for it; a run-again asks whatever was approved before. */
export const checkA2Change = (before: State, after: State): string | undefined => {
  const invalid = parked(after).find(({ call, manifest, body }) => {
    if (before.calls.at(call.ref)?.phase === "awaiting_approval") return false;
    const sticky = before.sticky.get(manifest.id)?.decision;
    return sticky === "reject" || (sticky === "approve" && body === undefined);
  });
  return invalid === undefined ? undefined : `call \`${invalid.call.ref}\`: A2: it is parked against a sticky decision`;
};

export const checkA3 = (state: State): string | undefined => {
  const found = state.calls.rows().reduce((sum, row) => sum + approvalsOf(row), 0);
  return found === state.awaitingApproval ? undefined : `A3: counts ${state.awaitingApproval} approvals of ${found}`;
};

export const approvalChecks = [checkA1, checkA3] as const;
export const approvalChangeChecks = [checkA2Change] as const;

/**
 * Crash loops: a call whose owner is lost again and again while its body runs.
 *
 * A loss is a crash only if the owner is lost (it released nothing), the body ran at the time, and nothing was recorded of
 * it since it last started: a body that makes records comes to an end. Crashes in a row are counted in the call's row, so
 * it is one count for all hosts. A resolver's run-again counts too: a resolver that says it of every loss makes a loop.
 *
 *   counts       an owner lost while the body ran, without a new record; a resolver's run-again
 *   leaves it    a released owner; a loss while the call was suspended, paused or parked; `continueAs`
 *   begins anew  with a record, with the next attempt, with the word of a person
 *
 * Before each run the call pauses, longer with each crash. At the limit it is parked as unknown, and nobody starts it by
 * itself; a tool may say that it fails instead.
 */
import { cancelledOf, complete } from "./finish.ts";
import type { Crash } from "./contract.ts";
import { resuming } from "./launch.ts";
import type { BodyState, CallIn, CallPhase, CallRow, ResumeCause } from "./model.ts";
import { endUnknown, withoutVersion } from "./parked.ts";
import { bodyOf } from "./row.ts";
import type { ChangeCheck } from "../concern.ts";
import type { Draft } from "../kernel/draft.ts";
import { firstBroken } from "../kernel/error.ts";
import type { Options } from "../kernel/options.ts";
import { hasRule } from "../kernel/protocol.ts";
import type { OwnerEnd } from "../scope/model.ts";

export const countsCrashes = ({ scope }: Draft): boolean => hasRule(scope.protocol, "crash_loops");

/** Returns a body after a record of it: its count of crashes begins anew. */
export const recorded = (
  draft: Draft,
  body: BodyState,
  open: BodyState["open"],
  settled: BodyState["settled"] = body.settled,
): BodyState => ({ ...body, resumes: 0, hasRecord: countsCrashes(draft), open, settled });

/** The pause before a body runs again after so many crashes in a row; the last one holds for all that follow. */
export const crashPauseMs = ({ crash_pauses_ms: pauses }: Options, crashes: number): number =>
  pauses[Math.min(crashes, pauses.length) - 1] ?? 0;

/** The newest step that a body has open: it was most likely at work. */
export const openStep = ({ open }: BodyState): string | undefined => open.findLast(({ kind }) => kind === "step")?.key;

const observeCrash = (draft: Draft, { call, tool, args }: CallRow, body: BodyState, pauseMs?: number): void => {
  const step = openStep(body);
  const crash: Crash = {
    count: body.resumes,
    ...(pauseMs === undefined ? {} : { resumes_in_ms: pauseMs }),
    ...(step === undefined ? {} : { step }),
  };
  draft.emit({ type: "observe", what: "call_crashed", call: call.ref, tool, call_id: call.id, args, crash });
};

/** Ends a call without a word from its tool, as it was told to stop. */
export const takenAtItsWord = (draft: Draft, row: CallIn<"running">): CallRow =>
  complete(draft, row, { output: cancelledOf(draft, row), durationMs: 0 });

/** The limit of crashes in a row: the call waits for a decision, unless its tool would rather fail. */
const atLimit = (draft: Draft, row: CallIn<"running">, body: BodyState): CallRow => {
  if (row.cancelled !== undefined) return takenAtItsWord(draft, row);
  if (body.manifest.on_crash_loop === "fail") return endUnknown(draft, row, body, "crash_loop");
  observeCrash(draft, row, body);
  return withoutVersion(draft, row, body, { cause: "crash_loop" });
};

/** Runs a body again whose count has just grown, after its pause. */
export const resumeCounted = (
  draft: Draft,
  row: CallIn<"running" | "unknown">,
  body: BodyState,
  cause: ResumeCause,
): CallRow => {
  const pauseMs = crashPauseMs(draft.options, body.resumes);
  observeCrash(draft, row, body, pauseMs);
  return resuming(draft, row, { body, cause, pauseMs, cancelled: row.phase === "running" ? row.cancelled : undefined });
};

export const oneMore = (body: BodyState): BodyState => ({ ...body, resumes: body.resumes + 1 });

/** Runs a body again whose owner went; a crash is counted before. */
export const resumeAfter = (draft: Draft, row: CallIn<"running">, went: OwnerEnd): CallRow => {
  const { body, cancelled } = row;
  if (went === "released" || body.hasRecord) return resuming(draft, row, { body, cause: "owner_lost", cancelled });
  const crashed = oneMore(body);
  return crashed.resumes >= draft.options.max_crashes
    ? atLimit(draft, row, crashed)
    : resumeCounted(draft, row, crashed, "owner_lost");
};

/** Time passes before the event of a step: a body that it begins is lost in that step. */
const mayCrash: ReadonlySet<CallPhase> = new Set(["running", "unknown", "backing_off", "ready", "queued"]);

/** Protocol 1 counts by another rule, and is not looked at. */
export const checkC12Change: ChangeCheck = (before, after) => {
  if (!hasRule(before.scope.protocol, "crash_loops")) return undefined;
  return firstBroken(
    after.calls.rows(),
    ({ call, phase }) => `call \`${call.ref}\` (${phase})`,
    (row) => {
      const earlier = before.calls.at(row.call.ref);
      if (earlier === undefined || earlier === row || earlier.call.born !== row.call.born) return undefined;
      const [count, last] = [bodyOf(row)?.resumes ?? 0, bodyOf(earlier)?.resumes ?? 0];
      if (count <= last || (count === last + 1 && mayCrash.has(earlier.phase))) return undefined;
      return `C12: ${last} crashes became ${count} while it was ${earlier.phase}`;
    },
  );
};

/** Protocol 1: every loss is counted, and each has its own pause; there are no more resumes than pauses. */
export const resumeInTurn = (draft: Draft, row: CallIn<"running">): CallRow => {
  const { body, cancelled } = row;
  const pauseMs = draft.options.resume_pauses_ms[body.resumes];
  if (pauseMs !== undefined)
    return resuming(draft, row, { body: oneMore(body), cause: "owner_lost", pauseMs, cancelled });
  return cancelled === undefined ? endUnknown(draft, row, body, "crash_loop") : takenAtItsWord(draft, row);
};

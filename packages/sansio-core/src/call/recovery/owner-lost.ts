/**
 * Recovery: what a lost owner means for each call, by its tool's recovery, and which commands are issued again.
 * Steps that were under way are judged when the body asks for them again: `effect/ask.ts`.
 *
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
import { defaultPendingCompletion } from "@pawl/tool-value";
import { maxAttempts, resuming } from "../launch.ts";
import type { BatchRow } from "../batch.ts";
import type { OpenEffect } from "../effect/effect.ts";
import type { CallIn, CallRow, BodyState, CallPhase, ResumeCause } from "../model.ts";
import { placeToTake } from "../queue.ts";
import { questionOf } from "./absent-tool.ts";
import { durationOf, outcomeUnknown, endUnknown, withoutVersion } from "./parked.ts";
import { recoveryOf } from "../../catalog/model.ts";
import type { Born, Command, State } from "../../kernel/vocabulary.ts";
import type { Draft } from "../../kernel/draft.ts";
import { hasRule } from "../../kernel/protocol.ts";
import { repliesOf } from "../../request/model.ts";
import type { OwnerEnd } from "../../scope/model.ts";
import { cancelledOf, complete } from "../finish.ts";
import type { Crash } from "../contract.ts";
import { bodyOf } from "../row.ts";
import type { ChangeCheck } from "../../concern.ts";
import { firstBroken } from "../../kernel/error.ts";
import type { Options } from "../../kernel/options.ts";

/** Parks a call on its key: it goes on without an owner, and the key ends it. */
const parkOnKey = (draft: Draft, row: CallIn<"running">, key: string): CallRow => {
  const { call, tool, args, observed, body } = row;
  draft.raise({ type: "wait.open", key, waiter: { call: call.ref }, request: call.request });
  const durationMs = durationOf(draft, body);
  return {
    call,
    tool,
    args,
    observed,
    phase: "pending",
    key,
    pending: defaultPendingCompletion,
    durationMs,
    due: undefined,
  };
};

/** A running call whose owner went. One that was told to stop is taken at its word, once it has cleaned up. */
export const lose = (draft: Draft, row: CallIn<"running">, went: OwnerEnd): CallRow => {
  const { cancelled } = row;
  const recovery = recoveryOf(row.body.manifest);
  const mayRun = recovery === "rerunnable" && cancelled?.due === undefined;
  if (mayRun) return countsCrashes(draft) ? resumeAfter(draft, row, went) : resumeInTurn(draft, row);
  if (cancelled !== undefined) return takenAtItsWord(draft, row);
  if (recovery === "externally_owned" && row.key !== undefined) return parkOnKey(draft, row, row.key);
  return outcomeUnknown(draft, row, row.body, "owner_lost");
};

// Commands to issue again; nothing else decides that for calls.

const ofPreparing = (row: CallIn<"preparing">): Command | undefined => {
  const { call, waits, manifest, args } = row;
  if (waits !== "hook") return questionOf(row);
  return { type: "hook.run", call: call.ref, phase: "before", tool: manifest.name, args };
};

const ofFinishing = ({ call, tool, args, waits, output, durationMs }: CallIn<"finishing">): Command =>
  waits === "projection"
    ? { type: "result.project", call: call.ref, tool, output }
    : { type: "hook.run", call: call.ref, phase: "after", tool, args, output, duration_ms: durationMs };

const ofResuming = ({ call, tool, args, body, cause }: CallIn<"resuming">): Command => ({
  type: "tool.execute",
  call: call.ref,
  attempt: body.attempt,
  run: body.run,
  tool_id: body.manifest.id,
  tool,
  args,
  payload: body.payload,
  max_attempts: maxAttempts(body.manifest.retry_policy),
  recovery: recoveryOf(body.manifest),
  cause,
});

/** A running body is asked for nothing: it asks. What its owner's loss means is decided by the event that says so. */
const ofCall = ({ scope }: State, row: CallRow): Command | undefined => {
  switch (row.phase) {
    case "preparing":
      return ofPreparing(row);
    case "no_tool":
      return row.due === undefined ? questionOf(row) : undefined;
    case "resuming":
      return row.due === undefined ? ofResuming(row) : undefined;
    case "queued":
    case "backing_off":
      return placeToTake(row);
    case "awaiting_approval": {
      const { edited } = row.approval;
      if (edited === undefined) return undefined;
      return { type: "args.check", call: row.call.ref, tool_id: row.manifest.id, args: edited.args };
    }
    case "unknown": {
      const isAsked = scope.options.resolver || !hasRule(scope.protocol, "crash_loops");
      return isAsked ? { type: "outcome.resolve", call: row.call.ref, cause: row.cause, tool: row.tool } : undefined;
    }
    case "finishing":
      return ofFinishing(row);
    default:
      return undefined;
  }
};

const isWithPerson = ({ waiting }: OpenEffect): boolean => waiting !== undefined;

/** Requests of a suspended body that are with a person: no body asks for them, and the host may have forgotten. */
const ofSuspended = ({ call, body: { open, attempt, run } }: CallIn<"suspended">): readonly Command[] =>
  open.flatMap(({ key, waiting }): readonly Command[] =>
    waiting === undefined ? [] : [{ type: "host.request", call: call.ref, attempt, run, key, ...waiting }],
  );

const commandsOf = (state: State, row: CallRow): readonly Command[] => {
  if (row.phase === "suspended") return ofSuspended(row);
  const command = ofCall(state, row);
  return command === undefined ? [] : [command];
};

const ofCalls = (state: State): Born[] =>
  state.calls.rows().flatMap((row) => {
    const { born, index } = row.call;
    return commandsOf(state, row).map((command) => ({ born, index, command }));
  });

const repliesToRecord = (state: State, row: BatchRow): Born[] => {
  const { parent, born, triggers } = row;
  if (parent === undefined) return [];
  const replies = repliesOf((ref) => state.calls.at(ref), row);
  return [
    { born, index: -1, command: { type: "replies.record", call: parent.call, key: parent.effect, replies, triggers } },
  ];
};

/** Lists the replies to record of batches that bodies made. */
const ofBatches = (state: State): Born[] =>
  state.batches
    .rows()
    .flatMap((row) => (row.phase === "ended" && row.parent !== undefined ? repliesToRecord(state, row) : []));

export const outstandingOfCalls = (state: State): Born[] => [...ofCalls(state), ...ofBatches(state)];

/** So many calls are looked at with every append; where there are more, one of them is taken to be at work. */
const manyCalls = 64;

/** A call of unknown outcome may be healed by whoever opens the scope next. */
const isAtWork = (state: State, row: CallRow): boolean =>
  row.phase === "running" ||
  row.phase === "unknown" ||
  (row.phase === "suspended" ? row.body.open.some(isWithPerson) : ofCall(state, row) !== undefined);

export const areAtWork = (state: State): boolean =>
  state.calls.size > manyCalls || state.calls.some((row) => isAtWork(state, row)) || ofBatches(state).length > 0;

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

/**
 * Recovery: what a lost owner means for each call, by its tool's recovery, and which commands are issued again.
 * Steps that were under way are judged when the body asks for them again: `effect-answer.ts`.
 */
import { defaultPendingCompletion } from "@pawl/tool-value";
import { countsCrashes, resumeAfter, resumeInTurn, takenAtItsWord } from "./crash-loop.ts";
import { maxAttempts } from "./launch.ts";
import type { BatchRow } from "./batch.ts";
import type { OpenEffect } from "./effect.ts";
import type { CallIn, CallRow } from "./model.ts";
import { questionOf } from "./absent-tool.ts";
import { placeToTake } from "./queue.ts";
import { durationOf, outcomeUnknown } from "./parked.ts";
import { recoveryOf } from "../catalog/model.ts";
import type { Born, Command, State } from "../kernel/vocabulary.ts";
import type { Draft } from "../kernel/draft.ts";
import { hasRule } from "../kernel/protocol.ts";
import { repliesOf } from "../request/model.ts";
import type { OwnerEnd } from "../scope/model.ts";

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

/** Recovery: what a lost owner means for each call, by its tool's recovery, and which commands are issued again. */
import { type ToolCallOutput, defaultPendingCompletion, failureOutput, runtimeFailure } from "@pawl/tool-value";
import { maxAttempts, resuming } from "./launch.ts";
import type { BatchRow } from "./batch.ts";
import { cancelledCall, complete, ending } from "./finish.ts";
import type { BodyState, CallIn, CallRow, Resolved, UnknownCause } from "./model.ts";
import { questionOf } from "./absent-tool.ts";
import { park } from "./approval.ts";
import { recoveryOf } from "../catalog/model.ts";
import type { Born, Command, State } from "../kernel/vocabulary.ts";
import type { Draft } from "../kernel/draft.ts";
import { PersistentMap } from "../kernel/persistent-map.ts";
import { repliesOf } from "../request/model.ts";

const reasons: { readonly [C in UnknownCause]: string } = {
  owner_lost: "its owner was lost while it ran",
  crash_loop: "its owner was lost again and again while it ran",
  diverged: "its program no longer asks what its log records",
};

const unknownOutcome = (tool: string, why: string): ToolCallOutput =>
  failureOutput(runtimeFailure("external", "tool_outcome_unknown", `the outcome of \`${tool}\` is unknown: ${why}`));

const durationOf = (draft: Draft, body: BodyState): number => draft.at - body.startedAt;

/** Asks the host's resolver; without one the call ends. */
const outcomeUnknown = (draft: Draft, row: CallRow, body: BodyState, cause: UnknownCause): CallRow => {
  if (!draft.options.resolver || cause === "crash_loop") {
    return ending(draft, row, unknownOutcome(row.tool, reasons[cause]), durationOf(draft, body));
  }
  draft.emit({ type: "outcome.resolve", call: row.call.ref, cause, tool: row.tool });
  const { call, tool, args, observed } = row;
  return { call, tool, args, observed, phase: "unknown", body, cause };
};

const takenAtItsWord = (draft: Draft, row: CallIn<"running">): CallRow =>
  complete(draft, row, { output: cancelledCall, durationMs: 0 });

const rerun = (draft: Draft, row: CallIn<"running">): CallRow => {
  const { body } = row;
  const { cancelled } = row;
  const pauseMs = draft.options.resume_pauses_ms[body.resumes];
  if (pauseMs !== undefined)
    return resuming(draft, row, {
      body: { ...body, resumes: body.resumes + 1 },
      cause: "owner_lost",
      pauseMs,
      cancelled,
    });
  return cancelled === undefined ? outcomeUnknown(draft, row, body, "crash_loop") : takenAtItsWord(draft, row);
};

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

/** A running call whose owner is lost. One that was told to stop is taken at its word, once it has cleaned up. */
export const lose = (draft: Draft, row: CallIn<"running">): CallRow => {
  const { cancelled } = row;
  const recovery = recoveryOf(row.body.manifest);
  const mayRun = recovery === "rerunnable" && cancelled?.due === undefined;
  if (mayRun) return rerun(draft, row);
  if (cancelled !== undefined) return takenAtItsWord(draft, row);
  if (recovery === "externally_owned" && row.key !== undefined) return parkOnKey(draft, row, row.key);
  return outcomeUnknown(draft, row, row.body, "owner_lost");
};

/** The resolver's word on an unknown outcome. A run-again of a call that needs approval asks again. */
export const resolve = (draft: Draft, row: CallIn<"unknown">, resolved: Resolved): CallRow => {
  const { body } = row;
  switch (resolved.type) {
    case "verified":
      return ending(draft, row, resolved.output, durationOf(draft, body));
    case "give_up":
      return ending(draft, row, unknownOutcome(row.tool, reasons[row.cause]), durationOf(draft, body));
    case "run_again": {
      const { manifest, payload, argsHash } = body;
      return manifest.policy === "requires_approval"
        ? park(draft, row, { argsHash, payload })
        : resuming(draft, row, { body, cause: "run_again" });
    }
  }
};

/** A body that no longer asks what its log records, by its tool's policy. */
export const diverge = (draft: Draft, row: CallIn<"running">, detail: string): CallRow => {
  const { body } = row;
  switch (body.manifest.divergence) {
    case "park":
      return outcomeUnknown(draft, row, body, "diverged");
    case "release":
      return resuming(draft, row, { body: { ...body, open: [], settled: PersistentMap.empty() }, cause: "run_again" });
    case "fail": {
      const failure = runtimeFailure("internal", "replay_diverged", detail);
      return ending(draft, row, failureOutput(failure), durationOf(draft, body));
    }
  }
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
const ofCall = (row: CallRow): Command | undefined => {
  switch (row.phase) {
    case "preparing":
      return ofPreparing(row);
    case "no_tool":
      return row.due === undefined ? questionOf(row) : undefined;
    case "resuming":
      return row.due === undefined ? ofResuming(row) : undefined;
    case "awaiting_approval": {
      const { edited } = row.approval;
      if (edited === undefined) return undefined;
      return { type: "args.check", call: row.call.ref, tool_id: row.manifest.id, args: edited.args };
    }
    case "unknown":
      return { type: "outcome.resolve", call: row.call.ref, cause: row.cause, tool: row.tool };
    case "finishing":
      return ofFinishing(row);
    default:
      return undefined;
  }
};

/** Requests of a suspended body that are with a person: no body asks for them, and the host may have forgotten. */
const ofSuspended = ({ call, body: { open, attempt, run } }: CallIn<"suspended">): readonly Command[] =>
  open.flatMap(({ key, waiting }): readonly Command[] =>
    waiting === undefined ? [] : [{ type: "host.request", call: call.ref, attempt, run, key, ...waiting }],
  );

const commandsOf = (row: CallRow): readonly Command[] => {
  if (row.phase === "suspended") return ofSuspended(row);
  const command = ofCall(row);
  return command === undefined ? [] : [command];
};

const ofCalls = (state: State): Born[] =>
  state.calls.rows().flatMap((row) => {
    const { born, index } = row.call;
    return commandsOf(row).map((command) => ({ born, index, command }));
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

const isAtWork = (row: CallRow): boolean => row.phase === "running" || commandsOf(row).length > 0;
export const areAtWork = (state: State): boolean =>
  state.calls.size > manyCalls || state.calls.some(isAtWork) || ofBatches(state).length > 0;

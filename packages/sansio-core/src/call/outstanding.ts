/** What calls still ask of the world: nothing else decides what is issued again for them. */
import { recoveryOf } from "../catalog/model.ts";
import type { Born, Command } from "../kernel/command.ts";
import type { State } from "../kernel/state.ts";
import { repliesOf } from "../request/replies.ts";
import { maxAttempts } from "./attempt.ts";
import type { BatchRow } from "./batch-model.ts";
import type { CallIn, CallRow } from "./model.ts";

const ofPreparing = ({ call, waits, manifest, args }: CallIn<"preparing">): Command => {
  switch (waits) {
    case "hook":
      return { type: "hook.run", call: call.ref, phase: "before", tool: manifest.name, args };
    case "args":
      return { type: "args.check", call: call.ref, tool_id: manifest.id, args };
    case "prepare":
      return { type: "tool.prepare", call: call.ref, tool_id: manifest.id, args };
  }
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

const ofCalls = (state: State): Born[] =>
  state.calls.rows().flatMap((row) => {
    const command = ofCall(row);
    return command === undefined ? [] : [{ born: row.call.born, index: row.call.index, command }];
  });

const repliesToRecord = (state: State, row: BatchRow): Born[] => {
  const { parent, born, triggers } = row;
  if (parent === undefined) return [];
  const replies = repliesOf((ref) => state.calls.at(ref), row);
  return [
    { born, index: -1, command: { type: "replies.record", call: parent.call, key: parent.effect, replies, triggers } },
  ];
};

/** Of a batch that a body made, and whose replies are not on record. */
const ofBatches = (state: State): Born[] =>
  state.batches
    .rows()
    .flatMap((row) => (row.phase === "ended" && row.parent !== undefined ? repliesToRecord(state, row) : []));

export const outstandingOfCalls = (state: State): Born[] => [...ofCalls(state), ...ofBatches(state)];

/** So many calls are looked at with every append; where there are more, one of them is taken to be at work. */
const manyCalls = 64;

const isAtWork = (row: CallRow): boolean => row.phase === "running" || ofCall(row) !== undefined;
export const areAtWork = (state: State): boolean =>
  state.calls.size > manyCalls || state.calls.some(isAtWork) || ofBatches(state).length > 0;

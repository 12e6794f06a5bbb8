/** What a scope still asks of the world. Nothing else decides what is issued again. */
import type { Born } from "./born.ts";
import type { CallIn, CallRow } from "./call/model.ts";
import { recoveryOf } from "./catalog/model.ts";
import type { Command } from "./command.ts";
import { late } from "./part/at-hand.ts";
import { type State, nextDeadline } from "./state.ts";
import { maxAttempts } from "./call/attempt.ts";

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
    case "preparing": {
      const { call, waits, manifest, args } = row;
      if (waits !== "args") return late.code.outstandingOfCall(row);
      return { type: "args.check", call: call.ref, tool_id: manifest.id, args };
    }
    case "resuming":
      return row.due === undefined ? ofResuming(row) : undefined;
    case "awaiting_approval":
    case "unknown":
    case "finishing":
      return late.code.outstandingOfCall(row);
    default:
      return undefined;
  }
};

const ofCalls = (state: State): Born[] =>
  state.calls.rows().flatMap((row) => {
    const command = ofCall(row);
    return command === undefined ? [] : [{ born: row.call.born, index: row.call.index, command }];
  });

/** Of a batch that a body made, and whose replies are not on record. */
const ofBatches = (state: State): Born[] =>
  state.batches
    .rows()
    .flatMap((row) => (row.phase === "ended" && row.parent !== undefined ? late.code.repliesToRecord(state, row) : []));

const ofRequests = (state: State): Born[] =>
  state.requests.rows().flatMap((row) => {
    if (row.phase !== "replying") return [];
    const { request, replies, triggers, flow, born } = row;
    const reply = { type: "reply", request, replies, triggers } as const;
    return [{ born, index: -1, command: flow === undefined ? reply : { ...reply, flow } }];
  });

const ofOutbox = (state: State): readonly Born[] =>
  state.outbox.size === 0 ? [] : late.code.outstandingOfOutbox(state);

const byText = (a: string, b: string): number => (a === b ? 0 : a < b ? -1 : 1);
/** Flows may ask for several things with one event: these go by their names. */
const nameOf = (command: Command): string => ("call" in command ? command.call : "id" in command ? command.id : "");
const byBirth = (a: Born, b: Born): number =>
  a.born - b.born ||
  a.index - b.index ||
  byText(a.command.type, b.command.type) ||
  byText(nameOf(a.command), nameOf(b.command));

/** So many calls are looked at with every append; where there are more, one of them is taken to be at work. */
const manyCalls = 64;

const isAtWork = (row: CallRow): boolean => row.phase === "running" || ofCall(row) !== undefined;
const areAtWork = ({ calls }: State): boolean => calls.size > manyCalls || calls.some(isAtWork);

const ofFlows = (state: State): readonly Born[] => (state.flows.size === 0 ? [] : late.code.outstandingOfFlows(state));

/** Whether it has nothing to do with processes, and nothing to say to another scope. */
const isAlone = ({ process, links, background, schedules }: State): boolean =>
  process === undefined && links.size === 0 && background.asked.size === 0 && schedules.rows.size === 0;
const ofScopes = (state: State): readonly Born[] => (isAlone(state) ? [] : late.code.outstandingAmong(state));

/** Whether it moves, has words on their way, or is at work. */
const isOwed = (state: State): boolean =>
  state.scope.status.type === "moving" ||
  state.outbox.size > 0 ||
  areAtWork(state) ||
  ofBatches(state).length > 0 ||
  ofFlows(state).length > 0 ||
  (!isAlone(state) && late.code.owesAmong(state));

/** When a scope has to be looked after though nobody asks for it; nobody need look after one that has moved away. */
export const wakeAtOf = (state: State): number | undefined => {
  if (state.scope.status.type === "moved") return undefined;
  return isOwed(state) ? state.at : nextDeadline(state)?.at;
};

/** The commands to issue again, oldest first: of a live state and of one folded from its log the same, at any prefix. */
export const outstanding = (state: State): readonly Command[] =>
  [
    ...ofCalls(state),
    ...ofBatches(state),
    ...ofRequests(state),
    ...ofOutbox(state),
    ...ofFlows(state),
    ...ofScopes(state),
  ]
    .toSorted(byBirth)
    .map(({ command }) => command);

/** What a scope still asks of the world. Nothing else decides what is issued again. */
import { writing } from "./run/run.ts";
import type { BatchRow } from "./call/batch-model.ts";
import type { Born } from "./kernel/born.ts";
import type { CallIn, CallRow } from "./call/model.ts";
import { recoveryOf } from "./catalog/model.ts";
import type { Command } from "./kernel/command.ts";
import { outstandingOfFlows } from "./flow/recovery.ts";
import { sendingsOf, unansweredOf } from "./link/model.ts";
import { repliesOf } from "./request/replies.ts";
import { planning, probing } from "./schedule/step.ts";
import { type State, nextDeadline } from "./kernel/state.ts";
import { maxAttempts } from "./call/attempt.ts";

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

const ofRequests = (state: State): Born[] =>
  state.requests.rows().flatMap((row) => {
    if (row.phase !== "replying") return [];
    const { request, replies, triggers, flow, born } = row;
    const reply = { type: "reply", request, replies, triggers } as const;
    return [{ born, index: -1, command: flow === undefined ? reply : { ...reply, flow } }];
  });

const byKey = (a: { readonly key: string }, b: { readonly key: string }): number => (a.key < b.key ? -1 : 1);

const ofOutbox = (state: State): Born[] =>
  state.outbox
    .values()
    .toSorted(byKey)
    .map(({ born, ...command }, index) => ({ born, index, command }));

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

/** Each link's messages in their order; of two links' at one place in the log those to the lesser peer first. */
const ofLinks = (state: State): Born[] =>
  state.links
    .values()
    .toSorted((a, b) => (a.peer < b.peer ? -1 : 1))
    .flatMap(sendingsOf)
    .map(({ born, ...sending }) => ({ born, index: sending.number, command: { type: "send", ...sending } }));

const first = (command: Command): Born => ({ born: 0, index: 0, command });

const ofProcess = ({ process: row }: State): Born[] => {
  if (row === undefined) return [];
  const { id, env_ref = "" } = row.registration;
  if (row.run === "env") return [first({ type: "env.load", process: id, env_ref })];
  if (row.run !== "engine") return [];
  const run = first({ type: "engine.run", process: id });
  return row.cancelled ? [run, { ...first({ type: "engine.cancel", process: id }), index: 1 }] : [run];
};

const ofBackground = ({ background: { asked, run }, process }: State): Born[] => {
  const permits = asked.values().map(({ run: name, born }): Born => ({
    born,
    index: 0,
    command: { type: "permit.take", run: name },
  }));
  if (run?.phase !== "finishing" || process === undefined) return permits;
  return [...permits, first(writing(process.registration.id, run))];
};

const ofSchedules = ({ schedules }: State): Born[] =>
  schedules.rows.values().flatMap((row) => {
    const { schedule, born, asked, probe } = row;
    const commands = [
      ...(asked === undefined ? [] : [planning(schedule, asked.after)]),
      ...(probe === undefined ? [] : probing(row, probe)),
    ];
    return commands.map((command) => ({ born, index: 0, command }));
  });

const owing = [ofProcess, ofBackground, ofSchedules] as const;

/** Whether it has to be looked after for a process, a run, a schedule, or words on their way. */
const owesAmong = (state: State): boolean =>
  state.links.some((row) => unansweredOf(row) > 0) || owing.some((of) => of(state).length > 0);

const outstandingAmong = (state: State): readonly Born[] => [
  ...ofLinks(state),
  ...ofProcess(state),
  ...ofBackground(state),
  ...ofSchedules(state),
];

/** Whether it moves, has words on their way, or is at work. */
const isOwed = (state: State): boolean =>
  state.scope.status.type === "moving" ||
  state.outbox.size > 0 ||
  areAtWork(state) ||
  ofBatches(state).length > 0 ||
  outstandingOfFlows(state).length > 0 ||
  owesAmong(state);

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
    ...outstandingOfFlows(state),
    ...outstandingAmong(state),
  ]
    .toSorted(byBirth)
    .map(({ command }) => command);

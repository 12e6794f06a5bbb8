/** Processes are registered, get events, run, wait and end. */
import {
  type Json,
  optional,
  string,
  type Codec,
  type TypeOf,
  array,
  boolean,
  defaulted,
  list,
  oneOf,
  record,
  struct,
  u64,
} from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import type { EffectSpec } from "../call/effect/effect.ts";
import type { Concern, SnapshotPart } from "../concern.ts";
import {
  type Born,
  type CallRef,
  type Command,
  type EventOf,
  type SignalOf,
  type State,
  answered,
  observed,
  untilAcked,
} from "../kernel/vocabulary.ts";
import type { Draft } from "../kernel/draft.ts";
import { type Rejection, Invariant, reject } from "../kernel/error.ts";
import type { Used } from "../kernel/limit.ts";
import type { Message, Outcome, Said } from "../message/message.ts";
import {
  ProcessEventAppendRequest,
  ProcessRegistration,
  ExternalRef,
  ProcessStatus,
  ProcessWait,
} from "../message/process.ts";
import { begin, decideRegistration, startCall } from "./begin.ts";
import { processStateChecks } from "./check.ts";
import type { ProcessAwaitOutput, ProcessRow, ProcessScopeEvent, ProcessState, Peer, ProcessRun } from "./model.ts";
import { requestOfEffect } from "./read.ts";
import { awaitOfOutput } from "./output.ts";
import { decideAppend, onMessageHeard, onMessageTaken } from "./receive.ts";
import { enterWait, leaveWait } from "./signal.ts";
import { endOvertaken, endProcess, isRun, write } from "./tell.ts";
import type { Reply } from "../request/model.ts";
import { PersistentMap } from "../kernel/persistent-map.ts";

const PeerCodec: Codec<Peer> = record<Peer>("struct Peer", { scope: string, waits: array(string) });

const ProcessCodec = struct("struct Process", {
  registration: ProcessRegistration,
  hash: string,
  createdAt: u64,
  updatedAt: u64,
  externalRef: optional(ExternalRef),
  wait: optional(ProcessWait),
  status: ProcessStatus,
  sequence: u64,
  replays: list(struct("struct KeyedEvent", { key: string, hash: string, seq: u64, at: u64, ordinal: optional(u64) })),
  signals: list(struct("struct CountedSignal", { type: string, count: u64 })),
  run: oneOf<ProcessRun>("a run of a process", "none", "env", "call", "artifacts", "engine", "turn"),
  cancelled: defaulted(boolean, false, (flag) => !flag),
  peers: list(PeerCodec),
  wakesNobody: defaulted(boolean, false, (flag) => !flag),
  grantedBy: optional(string),
});
type ProcessShape = TypeOf<typeof ProcessCodec>;

const processShape = ({ replays, signals, ...row }: ProcessRow): ProcessShape => ({
  ...row,
  replays: [...replays].map(([key, event]) => ({ key, ...event })).toSorted((a, b) => a.seq - b.seq),
  signals: [...signals].map(([type, count]) => ({ type, count })).toSorted((a, b) => (a.type < b.type ? -1 : 1)),
});

const processRow = ({ replays, signals, ...row }: ProcessShape): ProcessRow => ({
  ...row,
  replays: PersistentMap.of(replays.map(({ key, ...event }) => [key, event])),
  signals: PersistentMap.of(signals.map(({ type, count }) => [type, count])),
});

export const processSnapshot: SnapshotPart<{ readonly process?: ProcessShape }, ProcessRows> = {
  fields: { process: optional(ProcessCodec) },
  write: ({ process: row }) => (row === undefined ? {} : { process: processShape(row) }),
  read: ({ process: shape }) => ({ process: shape === undefined ? undefined : processRow(shape) }),
};

/** Signals that a process hears. */
export type ProcessSignal =
  | {
      readonly type: "message.taken";
      readonly from: string;
      readonly message: Said;
      readonly invalid?: string;
      readonly known?: boolean;
    }
  | { readonly type: "message.heard"; readonly to: string; readonly message: Message; readonly outcome: Outcome }
  | { readonly type: "run.ended"; readonly replies: readonly Reply[] }
  | { readonly type: "tools.published" }
  | {
      readonly type: "process.emit";
      readonly call: CallRef;
      readonly key: string;
      readonly effect: Extract<EffectSpec, { readonly kind: "event" }>;
    }
  /** A body waits for a signal; and nobody does any more. */
  | { readonly type: "process.wait"; readonly key: string; readonly name: string; readonly ordinal: number }
  | { readonly type: "process.unwait"; readonly key: string }
  /** A background run is over with all that belongs to it; or the turn of a sub-agent is, which has used so much. */
  | { readonly type: "process.finish"; readonly output: ProcessAwaitOutput; readonly used?: Used };

/** Commands of a process. */
export type ProcessCommand =
  /** The tools of a captured environment are to be published in its process's scope. */
  | { readonly type: "env.load"; readonly process: string; readonly env_ref: string }
  /** Somebody else runs the process, as its registration says, and appends the event that ends it. */
  | { readonly type: "engine.run"; readonly process: string }
  | { readonly type: "engine.cancel"; readonly process: string }
  | {
      readonly type: "process.observe";
      readonly what: "registered" | "event" | "ended";
      readonly process: string;
      readonly sequence: number;
      readonly event_type?: string;
      readonly payload?: Json;
      readonly state?: ProcessState;
    };

/** Its rows in a state. */
export interface ProcessRows {
  /** Set in the scope of a process. */
  readonly process: ProcessRow | undefined;
}

const onRegistered = (draft: Draft, { registration, hash }: EventOf<"process.registered">): Rejection | undefined => {
  const decided = decideRegistration(draft, registration, hash);
  if (E.isLeft(decided)) return decided.left;
  const { row, isReplay } = decided.right;
  if (isReplay) return reject("process_exists", `process \`${registration.id}\` is registered already, by the same`);
  begin(draft, row);
  return undefined;
};

const onAppended = (draft: Draft, event: EventOf<"process.event_appended">): Rejection | undefined => {
  const { request, payload_hash: payloadHash, invalid } = event;
  const before = draft.process;
  const decided = decideAppend(draft, { request, payloadHash, ...(invalid === undefined ? {} : { invalid }) });
  if (E.isLeft(decided)) return decided.left;
  const { isReplay, event: appended } = decided.right;
  if (isReplay) {
    const message = `process \`${appended.process_id}\` has this event already, at ${appended.sequence}`;
    return reject("process_event_exists", message);
  }
  if (before !== undefined) write(draft, before, decided.right);
  return undefined;
};

/** A body's event, in its own process's log. */
const onEmit = (draft: Draft, { call, key, effect }: SignalOf<"process.emit">): void => {
  const before = draft.process;
  const { payload_hash: payloadHash, invalid } = effect;
  const request = requestOfEffect(effect);
  const decided = decideAppend(draft, { request, payloadHash, ...(invalid === undefined ? {} : { invalid }) });
  if (before !== undefined && E.isRight(decided)) write(draft, before, decided.right);
  const status = E.isRight(decided) ? "ok" : "err";
  draft.raise({ type: "effect.end", call, key, status, value: draft.seq });
};

/** The process's own call has its reply. Where the process has ended already, the first end stays. */
const onRunEnded = (draft: Draft, { replies }: SignalOf<"run.ended">): void => {
  const [reply] = replies;
  if (draft.process === undefined || reply === undefined) throw new Invariant("a run ended that no process made");
  if (isRun(draft) && draft.process.status.state === "running") {
    draft.setProcess({ ...draft.process, run: "artifacts" });
    return draft.raise({ type: "run.finish", output: reply.output, cause: reply.cause });
  }
  const row = { ...draft.process, run: "none" as const };
  draft.setProcess(row);
  if (row.status.state === "running") write(draft, row, endProcess(row, awaitOfOutput(reply.output), draft.at));
};

/** The files of a background run are written, and its task has heard; or a turn is over. */
const onFinish = (draft: Draft, { output, used }: SignalOf<"process.finish">): void => {
  const { process: before } = draft;
  if (before === undefined) return;
  const row = { ...before, run: "none" as const };
  if (before.status.state !== "running") return used === undefined ? undefined : endOvertaken(draft, row, used);
  draft.setProcess(row);
  write(draft, row, endProcess(row, output, draft.at), used);
};

const onWait = (draft: Draft, { key, name, ordinal }: SignalOf<"process.wait">): void => {
  const row = draft.process;
  if (row === undefined || draft.wait(key)?.terminal !== undefined) return;
  const waiting = enterWait(row, name, ordinal, draft.at);
  if (E.isRight(waiting)) draft.setProcess(waiting.right);
};

const onUnwait = (draft: Draft, { key }: SignalOf<"process.unwait">): void => {
  const row = draft.process;
  if (row?.wait?.kind.key === key) draft.setProcess(leaveWait(row, draft.at));
};

const onTools = (draft: Draft): void => {
  if (draft.process?.run === "env") startCall(draft, draft.process);
};

const first = (command: Command): Born => ({ born: 0, index: 0, command });

const ofProcess = ({ process: row }: State): Born[] => {
  if (row === undefined) return [];
  const { id, env_ref = "" } = row.registration;
  if (row.run === "env") return [first({ type: "env.load", process: id, env_ref })];
  if (row.run !== "engine") return [];
  const run = first({ type: "engine.run", process: id });
  return row.cancelled ? [run, { ...first({ type: "engine.cancel", process: id }), index: 1 }] : [run];
};

/** Raised by an event of a process: it may be a signal, ask the process to end, or end it. */
const atAppend = [
  "messages.send",
  "wait.settle",
  "batches.cancel",
  "turn.cancel",
  "run.finish",
  "run.overtaken",
] as const;

export const process: Concern<ProcessRows, ProcessScopeEvent["type"], ProcessSignal["type"], ProcessCommand["type"]> = {
  name: "process",
  events: {
    "process.registered": { fields: { registration: ProcessRegistration, hash: string }, on: onRegistered },
    "process.event_appended": {
      fields: { request: ProcessEventAppendRequest, payload_hash: string, invalid: optional(string) },
      on: onAppended,
    },
  },
  signals: {
    "message.taken": {
      raises: [
        ...atAppend,
        "message.judged",
        "request.open",
        "handle.grant",
        "handle.ended",
        "run.begin",
        "task.report",
        "turn.begin",
        "agent.returned",
        "agent.raised",
      ],
      on: onMessageTaken,
    },
    "message.heard": {
      raises: ["handle.grant", "handle.released", "task.refused", "agent.returned"],
      on: onMessageHeard,
    },
    "run.ended": { raises: ["messages.send", "run.finish"], on: onRunEnded },
    "tools.published": { raises: ["request.open"], on: onTools },
    "process.emit": { raises: [...atAppend, "effect.end"], on: onEmit },
    "process.wait": { raises: [], on: onWait },
    "process.unwait": { raises: [], on: onUnwait },
    "process.finish": { raises: ["messages.send"], on: onFinish },
  },
  commands: {
    "env.load": {
      tag: 18,
      duty: answered("catalog.published"),
      digest: (lanes, command) => lanes.text(command.process).text(command.env_ref),
    },
    "engine.run": {
      tag: 19,
      duty: untilAcked("process.event_appended"),
      digest: (lanes, command) => lanes.text(command.process),
    },
    "engine.cancel": {
      tag: 20,
      duty: untilAcked("process.event_appended"),
      digest: (lanes, command) => lanes.text(command.process),
    },
    "process.observe": {
      tag: 21,
      duty: observed,
      digest: (lanes, command) => {
        lanes.text(command.what).text(command.process).number(command.sequence);
        return lanes.optional(command.event_type).optional(command.state);
      },
    },
  },
  outstanding: ofProcess,
  isAtWork: (state) => ofProcess(state).length > 0,
  checks: processStateChecks,
  snapshot: processSnapshot,
  rows: { process: undefined },
};

/** Consequences of an event that was appended: waits resolve, sessions wake, peers hear of the end. */
import { type Json, cancelledOutput, runtimeCancellation } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { signalWaitKey, terminalKey } from "../identity/scope.ts";
import type { Draft } from "../kernel/draft.ts";
import type { Used } from "../kernel/limit.ts";
import { requestBatch } from "../kernel/vocabulary.ts";
import { scopeOfHolder } from "../link/handle.ts";
import type { Telling } from "../message/message.ts";
import { ProcessAwaitOutput } from "../message/process.ts";
import { type Appended, type ProcessAppend, appendEvent, eventOf } from "./append.ts";
import { completionRequest, coreEvent } from "./registration.ts";
import { type Peer, type ProcessRow, type ProcessStatus, agentTurn, coreMade } from "./model.ts";

const statusOf = (output: ProcessAwaitOutput): Exclude<ProcessStatus, { readonly state: "running" }> => {
  switch (output.type) {
    case "success":
      return { state: "completed", await_output: output };
    case "failure":
      return { state: "failed", await_output: output };
    case "cancelled":
      return { state: "cancelled", await_output: output };
  }
};

/** A registrant may give the core types another meaning; an end that does not fit it is an end all the same. */
const forced = (row: ProcessRow, append: ProcessAppend, output: ProcessAwaitOutput): Appended => {
  const terminal = statusOf(output);
  const seq = row.sequence + 1;
  const event = eventOf(append, { seq, at: append.at }, { terminal });
  const key = terminalKey(row.registration.id, event.event_type);
  const replays = row.replays.set(key, { hash: append.payloadHash, seq, at: append.at });
  const { wait: _, ...rest } = row;
  return { row: { ...rest, status: terminal, sequence: seq, updatedAt: append.at, replays }, event, isReplay: false };
};

/** Ends a running process with this output. */
export const endProcess = (row: ProcessRow, output: ProcessAwaitOutput, at: number): Appended => {
  const processId = row.registration.id;
  const append = { processId, request: completionRequest(processId, output), payloadHash: coreMade, at };
  const appended = appendEvent(row, append);
  return E.isRight(appended) && appended.right.row.status.state !== "running"
    ? appended.right
    : forced(row, append, output);
};

type EndOfProcess = Extract<Telling, { readonly type: "process.ended" }>;

/** The end, as a peer is told of it; the output where one of its waits wants it. */
export const endOf = ({ registration, hash, status }: ProcessRow, { waits }: Peer): EndOfProcess | undefined => {
  if (status.state === "running") return undefined;
  const told = { type: "process.ended", process: registration.id, hash, state: status.state, waits } as const;
  return waits.length === 0 ? told : { ...told, output: ProcessAwaitOutput.encode(status.await_output) as Json };
};

/** Says something to another scope; after the end of a process there is little more to come. */
const say = (draft: Draft, row: ProcessRow, to: string, message: Telling): void =>
  draft.raise({ type: "messages.send", to, message, isLast: row.status.state !== "running" });

/** Tells one who wants to know of the end. `used`: for the scope that has set a grant aside. */
export const tellEnd = (draft: Draft, row: ProcessRow, peer: Peer, used?: Used): void => {
  const message = endOf(row, peer);
  if (message !== undefined) say(draft, row, peer.scope, used === undefined ? message : { ...message, used });
};

/** Tells all peers of the end, and the scope of the grant what was used: that may be a deleted session, which waits no more. */
const tellPeers = (draft: Draft, row: ProcessRow, used: Used | undefined): void => {
  const { grantedBy } = row;
  for (const peer of row.peers) tellEnd(draft, row, peer, peer.scope === grantedBy ? used : undefined);
  const isTold = row.peers.some(({ scope }) => scope === grantedBy);
  if (used !== undefined && grantedBy !== undefined && !isTold)
    tellEnd(draft, row, { scope: grantedBy, waits: [] }, used);
};

/** Asks what runs to stop. It may still finish: its end is then the process's. */
const stopCall = (draft: Draft, { registration, run }: ProcessRow): void => {
  if (run === "call") {
    draft.raise({ type: "batches.cancel", batches: [requestBatch(registration.id)] });
  }
  if (run === "turn") draft.raise({ type: "turn.cancel", request: agentTurn });
};

/** A terminal event was the first: everyone hears, and what runs is over. */
const finish = (draft: Draft, row: ProcessRow, used: Used | undefined): void => {
  const { id } = row.registration;
  draft.emit({ type: "process.observe", what: "ended", process: id, sequence: row.sequence, state: row.status.state });
  const isStopping = row.run === "call" || row.run === "turn";
  draft.setProcess({ ...row, run: isStopping ? row.run : "none", peers: [] });
  stopCall(draft, row);
  tellPeers(draft, row, used);
  if (isRun(draft) && row.status.state !== "running") draft.raise({ type: "run.overtaken", status: row.status });
};

const cancelledAtOnce = { type: "cancelled", message: "tool call cancelled" } as const;

/** Returns whether a background run is under way in this scope. */
export const isRun = ({
  state: {
    background: { run },
  },
}: Draft): boolean => run !== undefined && run.phase !== "ended";

/** A background run leaves its files, wherever it was stopped. */
const stopBeforeCall = (draft: Draft, row: ProcessRow): void => {
  draft.setProcess({ ...row, run: "artifacts" });
  draft.raise({ type: "run.finish", output: cancelledOutput(runtimeCancellation(cancelledAtOnce.message)) });
};

/** The process was asked to end: cooperatively, where something runs that can be asked. */
export const askToEnd = (draft: Draft, row: ProcessRow): void => {
  if (row.cancelled || row.status.state !== "running") return;
  const next = { ...row, cancelled: true };
  draft.setProcess(next);
  if (row.run === "env" && isRun(draft)) return stopBeforeCall(draft, next);
  if (row.run === "env") return write(draft, next, endProcess(next, cancelledAtOnce, draft.at));
  if (row.run === "engine") draft.emit({ type: "engine.cancel", process: row.registration.id });
  stopCall(draft, next);
};

/** The turn of a process that has its end already is over: what it has used is told after it. */
export const endOvertaken = (draft: Draft, row: ProcessRow, used: Used): void => {
  draft.setProcess(row);
  tellPeers(draft, row, used);
};

/** Writes an appended event's row, and does what the event means. A replayed one meant it already. */
export const write = (draft: Draft, before: ProcessRow, appended: Appended, used?: Used): void => {
  const { row, event, isReplay, wake, signal } = appended;
  if (isReplay) return;
  const { process_id, sequence, event_type, payload } = event;
  draft.setProcess(row);
  draft.emit({ type: "process.observe", what: "event", process: process_id, sequence, event_type, payload });
  if (wake !== undefined) say(draft, row, scopeOfHolder(wake.target), { type: "process.woke", wake });
  if (signal !== undefined && row.status.state === "running") {
    const key = signalWaitKey(process_id, signal.name, signal.ordinal);
    draft.raise({ type: "wait.settle", key, resolution: { status: "ok", payload }, isKept: true });
  }
  if (event_type === coreEvent.cancelRequested) askToEnd(draft, row);
  if (before.status.state === "running" && row.status.state !== "running") finish(draft, row, used);
};

/** Processes are registered, get events, run, wait and end. */
import * as E from "fp-ts/lib/Either.js";
import type { Draft } from "../kernel/draft.ts";
import { Invariant, type Rejection, absurd, reject } from "../kernel/error.ts";
import type { EventOf } from "../kernel/event.ts";
import type { Signal } from "../kernel/signal.ts";
import { begin, decideRegistration, startCall } from "./begin.ts";
import { endProcess } from "./end.ts";
import type { ProcessScopeEvent } from "./model.ts";
import { awaitOfOutput } from "./output.ts";
import { requestOfEffect } from "./read.ts";
import { decideAppend, onMessageHeard, onMessageTaken } from "./receive.ts";
import { enterWait, leaveWait } from "./signal.ts";
import { isRun, write } from "./tell.ts";

type Of<T extends Signal["type"]> = Extract<Signal, { readonly type: T }>;

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

export const onProcessEvent = (draft: Draft, event: ProcessScopeEvent): Rejection | undefined => {
  switch (event.type) {
    case "process.registered":
      return onRegistered(draft, event);
    case "process.event_appended":
      return onAppended(draft, event);
    default:
      return absurd(event);
  }
};

/** A body's event, in its own process's log. */
const onEmit = (draft: Draft, { call, key, effect }: Of<"process.emit">): void => {
  const before = draft.process;
  const { payload_hash: payloadHash, invalid } = effect;
  const request = requestOfEffect(effect);
  const decided = decideAppend(draft, { request, payloadHash, ...(invalid === undefined ? {} : { invalid }) });
  if (before !== undefined && E.isRight(decided)) write(draft, before, decided.right);
  const status = E.isRight(decided) ? "ok" : "err";
  draft.raise({ type: "effect.end", call, key, status, value: draft.seq });
};

/** The process's own call has its reply. Where the process has ended already, the first end stays. */
const onRunEnded = (draft: Draft, { replies }: Of<"run.ended">): void => {
  const [reply] = replies;
  if (draft.process === undefined || reply === undefined) throw new Invariant("a run ended that no process made");
  if (isRun(draft) && draft.process.status.state === "running") {
    draft.setProcess({ ...draft.process, run: "artifacts" });
    return draft.raise({ type: "run.finish", output: reply.output });
  }
  const row = { ...draft.process, run: "none" as const };
  draft.setProcess(row);
  if (row.status.state === "running") write(draft, row, endProcess(row, awaitOfOutput(reply.output), draft.at));
};

/** The files of a background run are written, and its task has heard. */
const onFinish = (draft: Draft, { output }: Of<"process.finish">): void => {
  const { process: before } = draft;
  if (before === undefined || before.status.state !== "running") return;
  const row = { ...before, run: "none" as const };
  draft.setProcess(row);
  write(draft, row, endProcess(row, output, draft.at));
};

const onWait = (draft: Draft, { key, name, ordinal }: Of<"process.wait">): void => {
  const row = draft.process;
  if (row === undefined || draft.wait(key)?.terminal !== undefined) return;
  const waiting = enterWait(row, name, ordinal, draft.at);
  if (E.isRight(waiting)) draft.setProcess(waiting.right);
};

const onUnwait = (draft: Draft, { key }: Of<"process.unwait">): void => {
  const row = draft.process;
  if (row?.wait?.kind.key === key) draft.setProcess(leaveWait(row, draft.at));
};

const onTools = (draft: Draft): void => {
  if (draft.process?.run === "env") startCall(draft, draft.process);
};

export const onProcessSignal = (
  draft: Draft,
  signal: Of<
    | "process.emit"
    | "run.ended"
    | "process.wait"
    | "process.unwait"
    | "tools.published"
    | "message.taken"
    | "message.heard"
    | "process.finish"
  >,
): void => {
  switch (signal.type) {
    case "process.emit":
      return onEmit(draft, signal);
    case "run.ended":
      return onRunEnded(draft, signal);
    case "process.wait":
      return onWait(draft, signal);
    case "process.unwait":
      return onUnwait(draft, signal);
    case "tools.published":
      return onTools(draft);
    case "process.finish":
      return onFinish(draft, signal);
    case "message.taken":
      return onMessageTaken(draft, signal);
    case "message.heard":
      return onMessageHeard(draft, signal);
    default:
      return absurd(signal);
  }
};

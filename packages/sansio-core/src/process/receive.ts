/** Messages, where they arrive: at a process, and at a scope that has to do with one. */
import type { Json, JsonObject } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import type { Draft } from "../kernel/draft.ts";
import { type Rejection, absurd, reject } from "../kernel/error.ts";
import { problemOfDeleted } from "../scope/concern.ts";
import { scopeOfHolder } from "../link/handle.ts";
import { cancelKey, isSession, processOfScope, signalWaitKey } from "../identity/scope.ts";
import type { Message, MessageOf, Outcome, Said } from "../message/message.ts";
import { problemOfLink } from "../link/model.ts";
import type { SignalOf } from "../kernel/vocabulary.ts";
import { type Appended, type ProcessAppend, appendEvent, wakeKey } from "./append.ts";
import { begin, decideRegistration, forgetting, toldTo, untoldTo } from "./begin.ts";
import { coreEvent } from "./registration.ts";
import { descriptorOf } from "../message/process.ts";
import type { ProcessState } from "./model.ts";
import { signalRequest } from "./signal.ts";
import { askToEnd, tellEnd, write } from "./tell.ts";

const accepted = (value: Json): Outcome => ({ status: "accepted", value });
const refused = ({ code, message }: Rejection): Outcome => ({ status: "refused", code, message });

/** Decides whether an event may be appended to the process of this scope, and what follows. */
export const decideAppend = (
  draft: Draft,
  append: Pick<ProcessAppend, "request" | "payloadHash" | "invalid">,
): E.Either<Rejection, Appended> => {
  const row = draft.process;
  const appended = appendEvent(row, { ...append, processId: processOfScope(draft.scope.id), at: draft.at });
  if (E.isLeft(appended)) return appended;
  const { isReplay, signal, wake } = appended.right;
  const full = isReplay || wake === undefined ? undefined : problemOfLink(draft, scopeOfHolder(wake.target));
  if (full !== undefined) return E.left(full);
  const max = draft.options.max_unclaimed;
  const isNews = !isReplay && signal !== undefined && row?.status.state === "running";
  const wait = isNews ? draft.wait(signalWaitKey(row.registration.id, signal.name, signal.ordinal)) : undefined;
  const isTooMuch = isNews && wait === undefined && draft.unclaimed >= max;
  return isTooMuch
    ? E.left(reject("too_many_unclaimed", `${max} signals that nobody awaits are kept already`))
    : appended;
};

const append = (
  draft: Draft,
  asked: Pick<ProcessAppend, "request" | "payloadHash" | "invalid">,
): E.Either<Rejection, Appended> => {
  const before = draft.process;
  const decided = decideAppend(draft, asked);
  if (before !== undefined && E.isRight(decided)) write(draft, before, decided.right);
  return decided;
};

const placeOf = ({ event }: Appended): Json => ({ process_id: event.process_id, sequence: event.sequence });

const onStart = (draft: Draft, from: string, message: MessageOf<"process.start">): Outcome => {
  const { registration, hash, limits } = message;
  const decided = decideRegistration(draft, registration, hash);
  if (E.isLeft(decided)) return refused(decided.left);
  const { row, isReplay } = decided.right;
  const status = { process_id: registration.id, status: row.status.state };
  if (!isReplay) begin(draft, row, { scope: from, ...(limits === undefined ? {} : { limits }) });
  else if (row.status.state === "running") draft.setProcess(toldTo(row, from));
  const isGranted = !isReplay && draft.process?.grantedBy === from;
  return accepted(isGranted ? { ...status, granted: true } : status);
};

const onSignal = (draft: Draft, message: MessageOf<"process.signal">, invalid: string | undefined): Outcome => {
  const { name, signal_id: signalId, payload, payload_hash: payloadHash } = message;
  const request = signalRequest({ processId: processOfScope(draft.scope.id), name, signalId, payload });
  if (E.isLeft(request)) return refused(request.left);
  const appended = append(draft, {
    request: request.right,
    payloadHash,
    ...(invalid === undefined ? {} : { invalid }),
  });
  return E.isLeft(appended) ? refused(appended.left) : accepted(placeOf(appended.right));
};

const onCancel = (draft: Draft, { reason, payload_hash: payloadHash }: MessageOf<"process.cancel">): Outcome => {
  const id = processOfScope(draft.scope.id);
  const replay = { key: cancelKey(id, payloadHash) };
  const request = { event_type: coreEvent.cancelRequested, payload: { reason }, replay };
  const appended = append(draft, { request, payloadHash });
  if (E.isLeft(appended)) return refused(appended.left);
  return accepted({ process_id: id, status: draft.process?.status.state ?? "running" });
};

const unknownHere = ({ scope }: Draft): Outcome =>
  refused(reject("process_unknown", `unknown process \`${processOfScope(scope.id)}\``));

const onAwait = (draft: Draft, scope: string, { wait }: MessageOf<"process.await">): Outcome => {
  const row = draft.process;
  if (row === undefined) return unknownHere(draft);
  if (row.status.state === "running") draft.setProcess(toldTo(row, scope, [wait]));
  else tellEnd(draft, row, { scope, waits: [wait] });
  return accepted({ process_id: row.registration.id, status: row.status.state });
};

const onHeld = (draft: Draft, scope: string, { held }: MessageOf<"handle.held">): Outcome => {
  const row = draft.process;
  if (row === undefined) return unknownHere(draft);
  const { state } = row.status;
  if (state === "running") draft.setProcess(held ? toldTo(row, scope) : untoldTo(row, scope));
  else if (held) tellEnd(draft, row, { scope, waits: [] });
  return accepted({ process_id: row.registration.id, status: state });
};

const onHolderDeleted = (draft: Draft, scope: string): Outcome => {
  const row = draft.process;
  if (row === undefined) return unknownHere(draft);
  const next = forgetting(row, scope);
  draft.setProcess(next);
  const isPreserved = next.peers.some((peer) => isSession(peer.scope));
  if (!isPreserved && next.run === "turn") askToEnd(draft, next);
  return accepted({ process_id: row.registration.id, status: row.status.state, preserved: isPreserved });
};

/** Its handle may not be here yet: the start that grants it is answered on another way than the end is told. */
const onEnded = (draft: Draft, from: string, message: MessageOf<"process.ended">): Outcome => {
  const { process, hash, state, waits, output, used } = message;
  for (const { message: sent } of draft.link(from)?.outgoing?.unanswered.values() ?? []) {
    if (sent.type === "process.start" && sent.hash === hash) grantStarted(draft, sent, "running");
  }
  draft.raise({ type: "handle.ended", process, state });
  if (used !== undefined) draft.raise({ type: "agent.returned", process, used });
  for (const key of waits) {
    draft.raise({ type: "wait.settle", key, resolution: { status: "ok", payload: output ?? null }, isKept: false });
  }
  return accepted(null);
};

/** Keeps a wake until the host has it; the same wake again changes nothing, also after that. */
const onWoke = (draft: Draft, { wake }: MessageOf<"process.woke">, known: boolean): Outcome => {
  const deleted = problemOfDeleted(draft);
  if (deleted !== undefined) return refused(deleted);
  const key = wakeKey(wake);
  if (known || draft.outbox.has(key)) return accepted(null);
  draft.putOutbox({ type: "wake.deliver", key, wake, born: draft.seq });
  draft.emit({ type: "wake.deliver", key, wake });
  return accepted(null);
};

const onGranted = (draft: Draft, from: string, handle: MessageOf<"handle.granted">): Outcome => {
  const deleted = problemOfDeleted(draft);
  if (deleted !== undefined) return refused(deleted);
  const scope = scopeOfHolder(handle.holder);
  if (scope !== draft.scope.id) {
    return refused(reject("handle_refused", `handles of \`${scope}\` are not kept in \`${draft.scope.id}\``));
  }
  draft.raise({ ...handle, type: "handle.grant", isNews: isSession(from) });
  return accepted(null);
};

const outcomeOf = (draft: Draft, { from, message, invalid, known = false }: SignalOf<"message.taken">): Outcome => {
  switch (message.type) {
    case "process.start":
      return onStart(draft, from, message);
    case "process.signal":
      return onSignal(draft, message, invalid);
    case "process.append": {
      const { request, payload_hash: payloadHash } = message;
      const appended = append(draft, { request, payloadHash, ...(invalid === undefined ? {} : { invalid }) });
      return E.isLeft(appended) ? refused(appended.left) : accepted(placeOf(appended.right));
    }
    case "process.cancel":
      return onCancel(draft, message);
    case "process.await":
      return onAwait(draft, from, message);
    case "process.ended":
      return onEnded(draft, from, message);
    case "budget.raised":
      draft.raise({ type: "agent.raised", process: message.process, add: message.add });
      return accepted(null);
    case "process.woke":
      return onWoke(draft, message, known);
    case "task.reported": {
      const { task, run, update } = message;
      draft.raise({ type: "task.report", from, task, run, update });
      return accepted(null);
    }
    case "handle.granted":
      return onGranted(draft, from, message);
    case "handle.held":
      return onHeld(draft, from, message);
    case "session.deleted":
      return onHolderDeleted(draft, from);
    default:
      return absurd(message);
  }
};

const tellings: ReadonlySet<Said["type"]> = new Set([
  "process.ended",
  "budget.raised",
  "process.woke",
  "task.reported",
  "handle.granted",
]);

/** A process that is none, or has ended, has little more to hear. */
const isLast = (draft: Draft, { type }: Said): boolean =>
  !tellings.has(type) && (draft.process === undefined || draft.process.status.state !== "running");

/** A message was taken: it does what it does, or is refused; either way its sender hears. */
export const onMessageTaken = (draft: Draft, signal: SignalOf<"message.taken">): void => {
  const { from, message } = signal;
  const outcome = outcomeOf(draft, signal);
  draft.raise({ type: "message.judged", from, outcome: isLast(draft, message) ? { ...outcome, last: true } : outcome });
};

const grantStarted = (draft: Draft, { registration }: MessageOf<"process.start">, status: ProcessState): void => {
  const { wake_target: holder, id: process, identity } = registration;
  if (holder === undefined || scopeOfHolder(holder) !== draft.scope.id) return;
  const { definition } = identity;
  const handle = { holder, process, descriptor: descriptorOf(registration), status };
  draft.raise({ type: "handle.grant", isNews: false, ...handle, ...(definition === undefined ? {} : { definition }) });
};

const states: readonly ProcessState[] = ["running", "completed", "failed", "cancelled"];

/** Reads a field of an accepted message's answer. */
const saidIn = (outcome: Outcome, name: string): Json | undefined => {
  const value = outcome.status === "accepted" ? outcome.value : null;
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject)[name] : undefined;
};

/** Returns the fate of a process that a deleted session held, by its answer. */
const fateIn = (outcome: Outcome): SignalOf<"handle.released">["fate"] => {
  if (saidIn(outcome, "status") !== "running") return "ended";
  return saidIn(outcome, "preserved") === true ? "preserved" : "orphaned";
};

/** A process that was not begun by this very start has the grant of another, or none. */
const ungranted = (draft: Draft, { registration, limits }: MessageOf<"process.start">): void => {
  if (limits !== undefined) draft.raise({ type: "agent.returned", process: registration.id, used: {} });
};

type Refusal = Extract<Outcome, { readonly status: "refused" }>;

/** A handle that its new session does not take stays where it was; a process wakes a deleted session no more. */
const onRefused = (draft: Draft, to: string, message: Message, outcome: Refusal): void => {
  const { code } = outcome;
  const row = draft.process;
  if (message.type === "process.start") {
    ungranted(draft, message);
    return draft.raise({ type: "task.refused", process: message.registration.id, message: outcome.message });
  }
  if (row !== undefined) return code === "session_deleted" ? draft.setProcess(forgetting(row, to)) : undefined;
  if (message.type !== "handle.granted") return;
  const holder = { session_id: draft.scope.id.slice("session:".length) };
  draft.raise({ ...message, type: "handle.grant", holder, isNews: true });
};

/** A start that was accepted grants its handle. */
export const onMessageHeard = (draft: Draft, { to, message, outcome }: SignalOf<"message.heard">): void => {
  if (message.type === "session.deleted") {
    return draft.raise({ type: "handle.released", process: processOfScope(to), fate: fateIn(outcome) });
  }
  if (outcome.status === "refused") return onRefused(draft, to, message, outcome);
  if (message.type !== "process.start") return;
  if (saidIn(outcome, "granted") !== true) ungranted(draft, message);
  const said = saidIn(outcome, "status");
  grantStarted(draft, message, states.find((state) => state === said) ?? "running");
};

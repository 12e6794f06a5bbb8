/**
 * A handle: the right of a session, or of an agent's frame in it, to use a process; and what was last heard of that.
 *
 *   granted ─▶ [ended] ─▶ revoked, or pushed out by newer ended ones
 *      └── transferred: to another holder here, or to another session by a message
 *
 * With its session all handles go: each process is told, and says whether another session still has it.
 *
 * Invariants
 *   H1  a handle has distinct holders, at least one, all of this session
 *   H2  no more handles of ended processes are kept than `max_ended_handles`
 *   H3  a handle is kept under its process, and `ended` stands where it is ended
 *   H4  a deleted session has no handles, and has asked each process once; its deletion is never undone
 */
import type { Json } from "@pawl/tool-value";
import { type SessionScope, isSession, processOfScope, processScope, sessionScopeId } from "../identity/scope.ts";
import type { Draft } from "../kernel/draft.ts";
import { type Rejection, reject } from "../kernel/error.ts";
import type { EventOf, SignalOf } from "../kernel/vocabulary.ts";
import type { PersistentMap } from "../kernel/persistent-map.ts";
import { notGranted, notVisible } from "../message/process.ts";
import type { Asking, GrantedHandle } from "../message/message.ts";
import type { HandleDescriptor, ProcessHandleSummary, ProcessState } from "../process/model.ts";
import { problemOfDeleted } from "../scope/concern.ts";

export interface HandleRow {
  readonly process: string;
  readonly holders: readonly SessionScope[];
  readonly descriptor: HandleDescriptor;
  readonly definition?: Json;
  readonly status: ProcessState;
  readonly born: number;
  /** The event that told of the end. */
  readonly ended?: number;
}

/** A deleted session: which processes it still waits to hear from, and what it heard of those that live on. */
export interface DeletionRow {
  readonly asked: readonly string[];
  /** No session has their handle any more. */
  readonly orphaned: readonly string[];
  readonly preserved: readonly string[];
}

export type HandleEvent =
  | ({ readonly type: "handle.granted" } & GrantedHandle)
  | {
      readonly type: "handles.transferred";
      readonly from: SessionScope;
      readonly to: SessionScope;
      readonly processes: readonly string[];
    }
  /** Without a list: all that the holder has. */
  | { readonly type: "handles.revoked"; readonly holder: SessionScope; readonly processes?: readonly string[] }
  | { readonly type: "session.deleted" };

const isSameHolder = (a: SessionScope, b: SessionScope): boolean => sessionScopeId(a) === sessionScopeId(b);

/** The scope whose state a holder's handles are in. */
export const scopeOfHolder = ({ session_id }: SessionScope): string => sessionScopeId({ session_id });

const isHeldBy = ({ holders }: Pick<HandleRow, "holders">, holder: SessionScope): boolean =>
  holders.some((other) => isSameHolder(other, holder));

// A holder reads its handles.

interface WithHandles {
  readonly handles: PersistentMap<string, HandleRow>;
}

/** Why a holder may not use a process so, if it may not. A signal is for what still runs. */
export const handleProblem = (
  { handles }: WithHandles,
  holder: SessionScope,
  process: string,
  use: Asking["type"],
): string | undefined => {
  if (use === "process.start") return undefined;
  const row = handles.get(process);
  const isHeld = row !== undefined && isHeldBy(row, holder);
  return isHeld && (use !== "process.signal" || row.status === "running") ? undefined : notVisible(process);
};

/** The handles of a holder, oldest first; `live`: of processes that run. */
export const handlesOf = (
  { handles }: WithHandles,
  holder: SessionScope,
  mode: "live" | "all",
): readonly ProcessHandleSummary[] =>
  handles
    .values()
    .filter((row) => isHeldBy(row, holder) && (mode === "all" || row.status === "running"))
    .toSorted((a, b) => a.born - b.born || (a.process < b.process ? -1 : 1))
    .map(({ process, descriptor, definition, status }) => ({
      __handle__: "process",
      id: process,
      process_id: process,
      descriptor,
      ...(definition === undefined ? {} : { definition }),
      status,
    }));

// Handles are granted, handed on, revoked, and told of the end of their process.

const without = (row: HandleRow, holder: SessionScope): readonly SessionScope[] =>
  row.holders.filter((other) => !isSameHolder(other, holder));

/** Drops the oldest ended ones where there are more than are kept. */
const trim = (draft: Draft): void => {
  const ended = draft.handles.values().filter((row) => row.ended !== undefined);
  if (ended.length <= draft.options.max_ended_handles) return;
  const [oldest] = ended.toSorted((a, b) => (a.ended ?? 0) - (b.ended ?? 0) || (a.process < b.process ? -1 : 1));
  if (oldest !== undefined) draft.dropHandle(oldest.process);
};

/** Tells a process that runs whether this session has its handle, and so is told of its end. */
const tellHeld = (draft: Draft, { process, status }: Pick<HandleRow, "process" | "status">, held: boolean): void => {
  if (status !== "running") return;
  const message = { type: "handle.held", held } as const;
  draft.raise({ type: "messages.send", to: processScope(process), message, isLast: false });
};

const grant = (draft: Draft, { holder, process, descriptor, definition, status }: GrantedHandle): void => {
  if (draft.deletion !== undefined) return letGo(draft, draft.deletion, process);
  const row = draft.handles.get(process);
  if (row !== undefined) {
    return isHeldBy(row, holder) ? undefined : draft.putHandle({ ...row, holders: [...row.holders, holder] });
  }
  const said = { process, descriptor, ...(definition === undefined ? {} : { definition }) };
  const fresh = { ...said, holders: [holder], status, born: draft.seq };
  draft.putHandle(status === "running" ? fresh : { ...fresh, ended: draft.seq });
  trim(draft);
};

const problemOfHolder = (draft: Draft, holder: SessionScope): Rejection | undefined => {
  const scope = scopeOfHolder(holder);
  if (scope === draft.scope.id) return undefined;
  return reject("handle_refused", `handles of \`${scope}\` are not kept in \`${draft.scope.id}\``);
};

export const onGranted = (draft: Draft, event: EventOf<"handle.granted">): Rejection | undefined => {
  const problem = problemOfDeleted(draft) ?? problemOfHolder(draft, event.holder);
  if (problem !== undefined) return problem;
  if (!draft.handles.has(event.process)) tellHeld(draft, event, true);
  grant(draft, event);
  return undefined;
};

const missing = (draft: Draft, holder: SessionScope, processes: readonly string[]): Rejection | undefined => {
  const isMissing = (process: string): boolean => {
    const row = draft.handles.get(process);
    return row === undefined || !isHeldBy(row, holder);
  };
  const missed = processes.find(isMissing);
  return missed === undefined ? undefined : reject("handle_refused", notGranted(missed, holder.session_id));
};

const release = (draft: Draft, row: HandleRow, holder: SessionScope): void => {
  const holders = without(row, holder);
  if (holders.length > 0) return draft.putHandle({ ...row, holders });
  draft.dropHandle(row.process);
  tellHeld(draft, row, false);
};

/** One handle, from one holder to another. */
const transfer = (draft: Draft, row: HandleRow, { from, to }: EventOf<"handles.transferred">): void => {
  if (isSameHolder(from, to)) return;
  if (scopeOfHolder(to) === draft.scope.id) {
    const holders = without(row, from);
    return draft.putHandle({ ...row, holders: isHeldBy({ holders }, to) ? holders : [...holders, to] });
  }
  const { process, descriptor, definition, status } = row;
  const granted = { holder: to, process, descriptor, ...(definition === undefined ? {} : { definition }), status };
  release(draft, row, from);
  const message = { type: "handle.granted", ...granted } as const;
  draft.raise({ type: "messages.send", to: scopeOfHolder(to), message, isLast: false });
};

export const onTransferred = (draft: Draft, event: EventOf<"handles.transferred">): Rejection | undefined => {
  const problem = missing(draft, event.from, event.processes);
  if (problem !== undefined) return problem;
  for (const process of new Set(event.processes)) {
    const row = draft.handles.get(process);
    if (row !== undefined) transfer(draft, row, event);
  }
  return undefined;
};

export const onRevoked = (draft: Draft, { holder, processes }: EventOf<"handles.revoked">): Rejection | undefined => {
  const problem = processes === undefined ? undefined : missing(draft, holder, processes);
  if (problem !== undefined) return problem;
  const rows = draft.handles
    .values()
    .filter((row) => isHeldBy(row, holder) && (processes === undefined || processes.includes(row.process)));
  for (const row of rows) release(draft, row, holder);
  return undefined;
};

export const onEnded = (draft: Draft, { process, state }: SignalOf<"handle.ended">): void => {
  const row = draft.handles.get(process);
  if (row === undefined || row.ended !== undefined) return;
  draft.putHandle({ ...row, status: state, ended: draft.seq });
  trim(draft);
};

export const onGrant = (draft: Draft, signal: SignalOf<"handle.grant">): void => {
  if (signal.isNews && draft.deletion === undefined && !draft.handles.has(signal.process))
    tellHeld(draft, signal, true);
  grant(draft, signal);
};

// Deletion: a session lets go of its processes, and hears from each what becomes of it. Nothing is killed.

const say = (draft: Draft, process: string): void =>
  draft.raise({
    type: "messages.send",
    to: processScope(process),
    message: { type: "session.deleted" },
    isLast: false,
  });

const report = (draft: Draft, { asked, orphaned, preserved }: DeletionRow): void => {
  if (asked.length === 0) draft.emit({ type: "deletion.report", orphaned, preserved });
};

/** Processes that it has spoken to may wake it, though it holds them no more. */
const othersKnown = (draft: Draft): readonly string[] =>
  draft.links
    .keys()
    .filter((peer) => peer.startsWith("process:"))
    .map(processOfScope);

export const onDeleted = (draft: Draft): Rejection | undefined => {
  const problem = problemOfDeleted(draft);
  if (problem !== undefined) return problem;
  if (!isSession(draft.scope.id)) return reject("handle_refused", `\`${draft.scope.id}\` is no session`);
  const rows = draft.handles.values();
  const asked = rows.filter(({ status }) => status === "running").map(({ process }) => process);
  for (const { process } of rows) draft.dropHandle(process);
  for (const process of [...new Set([...asked, ...othersKnown(draft)])].toSorted()) say(draft, process);
  const deletion = { asked: asked.toSorted(), orphaned: [], preserved: [] };
  draft.setDeletion(deletion);
  draft.raise({ type: "waits.revoke", keys: draft.waitKeys() });
  if (draft.state.schedules.rows.size > 0) draft.raise({ type: "schedules.end" });
  if (draft.state.conversation.running !== undefined) draft.raise({ type: "turns.end" });
  report(draft, deletion);
  return undefined;
};

/** A handle that comes after the end is let go of like the others. */
export const letGo = (draft: Draft, deletion: DeletionRow, process: string): void => {
  if (deletion.asked.includes(process)) return;
  draft.setDeletion({ ...deletion, asked: [...deletion.asked, process].toSorted() });
  say(draft, process);
};

const withProcess = (processes: readonly string[], process: string): readonly string[] =>
  processes.includes(process) ? processes : [...processes, process].toSorted();

/** A process has said what becomes of it. Of one that has ended there is nothing to report. */
export const onReleased = (draft: Draft, signal: SignalOf<"handle.released">): void => {
  const { deletion } = draft;
  const { process, fate } = signal;
  if (deletion === undefined || !deletion.asked.includes(process)) return;
  const asked = deletion.asked.filter((other) => other !== process);
  const next = { ...deletion, asked };
  const told = fate === "ended" ? next : { ...next, [fate]: withProcess(deletion[fate], process) };
  draft.setDeletion(told);
  report(draft, told);
};

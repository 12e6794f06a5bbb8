/** Handles are granted, handed on, revoked, and told of the end of their process. */
import type { Draft } from "../kernel/draft.ts";
import { type Rejection, absurd, reject } from "../kernel/error.ts";
import type { EventOf } from "../kernel/event.ts";
import type { SessionScope } from "../identity/session-scope.ts";
import type { GrantedHandle } from "../message/message.ts";
import { processScope } from "../identity/process-scope.ts";
import { notGranted } from "../message/handle.ts";
import type { Signal } from "../kernel/signal.ts";
import { misfitOfDeleted } from "../scope/deleted.ts";
import { letGo, onDeleted, onReleased } from "./deletion.ts";
import { type HandleEvent, type HandleRow, isHeldBy, isSameHolder, scopeOfHolder } from "./handle-model.ts";

type Of<T extends Signal["type"]> = Extract<Signal, { readonly type: T }>;

const without = (row: HandleRow, holder: SessionScope): readonly SessionScope[] =>
  row.holders.filter((other) => !isSameHolder(other, holder));

/** Of more ended ones than are kept the oldest leaves. */
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

const misfitOfHolder = (draft: Draft, holder: SessionScope): Rejection | undefined => {
  const scope = scopeOfHolder(holder);
  if (scope === draft.scope.id) return undefined;
  return reject("handle_refused", `handles of \`${scope}\` are not kept in \`${draft.scope.id}\``);
};

const onGranted = (draft: Draft, event: EventOf<"handle.granted">): Rejection | undefined => {
  const misfit = misfitOfDeleted(draft) ?? misfitOfHolder(draft, event.holder);
  if (misfit !== undefined) return misfit;
  if (!draft.handles.has(event.process)) tellHeld(draft, event, true);
  grant(draft, event);
  return undefined;
};

const missing = (draft: Draft, holder: SessionScope, processes: readonly string[]): Rejection | undefined => {
  const isMissing = (process: string): boolean => {
    const row = draft.handles.get(process);
    return row === undefined || !isHeldBy(row, holder);
  };
  const stray = processes.find(isMissing);
  return stray === undefined ? undefined : reject("handle_refused", notGranted(stray, holder.session_id));
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

const onTransferred = (draft: Draft, event: EventOf<"handles.transferred">): Rejection | undefined => {
  const misfit = missing(draft, event.from, event.processes);
  if (misfit !== undefined) return misfit;
  for (const process of new Set(event.processes)) {
    const row = draft.handles.get(process);
    if (row !== undefined) transfer(draft, row, event);
  }
  return undefined;
};

const onRevoked = (draft: Draft, { holder, processes }: EventOf<"handles.revoked">): Rejection | undefined => {
  const misfit = processes === undefined ? undefined : missing(draft, holder, processes);
  if (misfit !== undefined) return misfit;
  const rows = draft.handles
    .values()
    .filter((row) => isHeldBy(row, holder) && (processes === undefined || processes.includes(row.process)));
  for (const row of rows) release(draft, row, holder);
  return undefined;
};

export const onHandleEvent = (draft: Draft, event: HandleEvent): Rejection | undefined => {
  switch (event.type) {
    case "handle.granted":
      return onGranted(draft, event);
    case "handles.transferred":
      return onTransferred(draft, event);
    case "handles.revoked":
      return onRevoked(draft, event);
    case "session.deleted":
      return onDeleted(draft);
    default:
      return absurd(event);
  }
};

const onEnded = (draft: Draft, { process, state }: Of<"handle.ended">): void => {
  const row = draft.handles.get(process);
  if (row === undefined || row.ended !== undefined) return;
  draft.putHandle({ ...row, status: state, ended: draft.seq });
  trim(draft);
};

const onGrant = (draft: Draft, signal: Of<"handle.grant">): void => {
  if (signal.isNews && draft.deletion === undefined && !draft.handles.has(signal.process))
    tellHeld(draft, signal, true);
  grant(draft, signal);
};

export const onHandleSignal = (draft: Draft, signal: Of<"handle.grant" | "handle.ended" | "handle.released">): void => {
  switch (signal.type) {
    case "handle.grant":
      return onGrant(draft, signal);
    case "handle.released":
      return onReleased(draft, signal);
    case "handle.ended":
      return onEnded(draft, signal);
    default:
      return absurd(signal);
  }
};

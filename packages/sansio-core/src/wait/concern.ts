/** Waits are opened, resolved once, and left. */
import { array, optional, Resolution, string, u64 } from "@pawl/tool-value";
import { isLifeOver } from "../call/life.ts";
import { bodyOf, inPhase, isRejection } from "../call/row.ts";
import type { Concern } from "../concern.ts";
import type { Draft } from "../kernel/draft.ts";
import { type Rejection, reject } from "../kernel/error.ts";
import type { CallRef, EventOf, SignalOf } from "../kernel/vocabulary.ts";
import { Table } from "../kernel/table.ts";
import { waitChecks } from "./check.ts";
import type { OwnWait, Terminal, Waiter, WaitEvent, WaitRow, WaitRows, WaitSignal } from "./model.ts";

/** Tells one who waits: a body by its effect, a pending call by its end. */
const answer = (draft: Draft, { call, effect }: Waiter, { resolution, seq }: Terminal, at?: number): void => {
  if (effect === undefined) draft.raise({ type: "pending.end", call, resolution, ...(at === undefined ? {} : { at }) });
  else draft.raise({ type: "effect.end", call, key: effect, status: statusOf(resolution), value: seq });
};
const statusOf = (resolution: Resolution): "ok" | "err" => (resolution.status === "ok" ? "ok" : "err");

/** A key that the state does not know. Of a deleted session it is revoked, like those that it knew. */
const unknownWait = (draft: Draft, key: string, own?: OwnWait): WaitRow => {
  const fresh = { key, born: draft.seq, waiters: [], requests: [] };
  const row = own === undefined ? fresh : { key, born: draft.seq, waiters: [], requests: [], own };
  return draft.deletion === undefined ? row : { ...row, revoked: true };
};

/** Whose own a key is, as its token says. */
const ownOf = ({ call, life }: EventOf<"wait.resolved">): { readonly own?: OwnWait } => {
  if (call === undefined) return {};
  return { own: { call: call as CallRef, ...(life === undefined ? {} : { life }) } };
};

/** A key that nobody awaits yet. */
const keepUnclaimed = (draft: Draft, row: WaitRow): Rejection | undefined => {
  const max = draft.options.max_unclaimed;
  if (draft.unclaimed >= max)
    return reject("too_many_unclaimed", `${max} resolutions that nobody awaits are kept already`);
  draft.countUnclaimed(1);
  draft.putWait(row);
  if (row.own !== undefined) draft.raise({ type: "wait.kept", call: row.own.call, key: row.key });
  return undefined;
};

export const onResolved = (draft: Draft, event: EventOf<"wait.resolved">): Rejection | undefined => {
  const { key, resolution, call, life } = event;
  const row = draft.wait(key);
  const isRevoked = row === undefined ? draft.deletion !== undefined : row.revoked;
  if (isRevoked) return reject("unknown_or_revoked", `\`${key}\` was revoked`);
  if (row?.terminal !== undefined) {
    return reject("already_resolved", `\`${key}\` was resolved by event ${row.terminal.seq}: the first one won`);
  }
  if (call !== undefined && isLifeOver(draft.call(call), life)) {
    const whose = life === undefined ? `call \`${call}\`` : `life ${life} of call \`${call}\``;
    return reject("already_resolved", `\`${key}\` was a key of ${whose}, which is over: nobody can await it`);
  }
  const terminal = { resolution, seq: draft.seq };
  if (row === undefined)
    return keepUnclaimed(draft, { key, born: draft.seq, waiters: [], requests: [], terminal, ...ownOf(event) });
  draft.putWait({ ...row, waiters: [], terminal });
  for (const waiter of row.waiters) answer(draft, waiter, terminal, draft.seq);
  return undefined;
};

/** A body cancels its own wait: that waiter is detached, the key is not resolved. */
export const onCancelled = (draft: Draft, event: EventOf<"wait.cancelled">): Rejection | undefined => {
  const row = inPhase(draft, event.call, "running", "suspended", "resuming", "no_executor");
  if (isRejection(row)) return row;
  const effect = bodyOf(row)?.open.find(({ key }) => key === event.key);
  if (effect?.wait === undefined)
    return reject("not_a_waiter", `call \`${event.call}\` does not wait under \`${event.key}\``);
  const { ref } = row.call;
  draft.raise({ type: "wait.leave", key: effect.wait, waiter: { call: ref, effect: event.key } });
  draft.raise({ type: "effect.end", call: ref, key: event.key, status: "err", value: draft.seq });
  return undefined;
};

/** Tells one who waits that the wait is over without a resolution. */
const deny = (draft: Draft, { call, effect }: Waiter): void => {
  if (effect === undefined) draft.raise({ type: "pending.end", call, resolution: "revoked" });
  else draft.raise({ type: "effect.end", call, key: effect, status: "err", value: draft.seq });
};

/** A resolved wait stays as it is: the first one won. */
export const revoke = (draft: Draft, keys: readonly string[]): undefined => {
  for (const key of keys) {
    const row = draft.wait(key);
    if (row?.terminal !== undefined || row?.revoked) continue;
    if (row === undefined) draft.countUnclaimed(1);
    const fresh = { key, born: draft.seq, requests: [] };
    draft.putWait({ ...(row ?? fresh), waiters: [], revoked: true });
    for (const waiter of row?.waiters ?? []) deny(draft, waiter);
  }
};

/** A request keeps the keys that its calls wait on, so that they leave the state with it. One that has ended keeps none. */
const claim = (draft: Draft, row: WaitRow, request: string): WaitRow => {
  const holder = draft.request(request);
  if (row.requests.includes(request) || holder?.phase !== "running") return row;
  draft.putRequest({ ...holder, waits: holder.waits.concat(row.key) });
  return { ...row, requests: row.requests.concat(request) };
};

const isOver = ({ terminal, revoked }: WaitRow): boolean => terminal !== undefined || revoked === true;

const isSameOwn = (a: OwnWait | undefined, b: OwnWait | undefined): boolean =>
  a?.call === b?.call && a?.life === b?.life;

/** The row of a key that is awaited as somebody's own; one that is awaited otherwise as well is shared from then on. */
const withOwn = (draft: Draft, key: string, own: OwnWait | undefined): WaitRow => {
  const known = draft.wait(key);
  if (known === undefined) return unknownWait(draft, key, own);
  if (isSameOwn(known.own, own)) return known;
  const { own: _, ...shared } = known;
  return shared;
};

const onOpen = (draft: Draft, { key, waiter, request, own }: SignalOf<"wait.open">): void => {
  const known = draft.wait(key);
  const row = withOwn(draft, key, own);
  const wasOver = isOver(row);
  if (known !== undefined && wasOver && row.requests.length === 0) draft.countUnclaimed(-1);
  const claimed = claim(draft, row, request);
  draft.putWait(wasOver ? claimed : { ...claimed, waiters: row.waiters.concat(waiter) });
  if (row.terminal !== undefined) answer(draft, waiter, row.terminal);
  else if (row.revoked) deny(draft, waiter);
};

const isSame = (a: Waiter, b: Waiter): boolean => a.call === b.call && a.effect === b.effect;

/** A waiter goes; the key is as it was. */
const onLeave = (draft: Draft, { key, waiter }: SignalOf<"wait.leave">): void => {
  const row = draft.wait(key);
  if (row === undefined || row.waiters.length === 0) return;
  const waiters = row.waiters.filter((other) => !isSame(other, waiter));
  draft.putWait({ ...row, waiters });
  if (waiters.length === 0 && draft.process !== undefined) draft.raise({ type: "process.unwait", key });
};

/** A call's end resolves its key, whoever else waits there. */
const onClose = (draft: Draft, { key, waiter, request, resolution }: SignalOf<"wait.close">): void => {
  const row: WaitRow = draft.wait(key) ?? { key, born: draft.seq, waiters: [], requests: [] };
  if (row.terminal !== undefined || row.revoked) return;
  const terminal = { resolution, seq: draft.seq };
  const claimed = claim(draft, row, request);
  if (claimed.requests.length === 0) return draft.dropWait(key, terminal);
  draft.putWait({ ...claimed, waiters: [], terminal });
  for (const other of row.waiters) if (!isSame(other, waiter)) answer(draft, other, terminal);
};

const onClaim = (draft: Draft, { key, request }: SignalOf<"wait.claim">): void => {
  const known = draft.wait(key);
  const row = known ?? unknownWait(draft, key);
  if (known !== undefined && isOver(row) && row.requests.length === 0) draft.countUnclaimed(-1);
  draft.putWait(claim(draft, row, request));
};

const onSettle = (draft: Draft, { key, resolution, isKept }: SignalOf<"wait.settle">): void => {
  const row = draft.wait(key);
  if (row === undefined ? !isKept : isOver(row)) return;
  const terminal = { resolution, seq: draft.seq };
  if (row === undefined) draft.countUnclaimed(1);
  draft.putWait({ key, born: row?.born ?? draft.seq, requests: row?.requests ?? [], waiters: [], terminal });
  for (const waiter of row?.waiters ?? []) answer(draft, waiter, terminal);
};

/** Takes a key out of the state, and from the requests that hold it. Who comes late is told that it is over. */
const release = (draft: Draft, { key, requests, terminal, revoked }: WaitRow): void => {
  for (const request of requests) {
    const holder = draft.request(request);
    if (holder?.phase === "running")
      draft.putRequest({ ...holder, waits: holder.waits.filter((other) => other !== key) });
  }
  if (requests.length === 0) draft.countUnclaimed(-1);
  const over = { resolution: { status: "cancelled" }, seq: draft.seq } as const;
  draft.dropWait(key, revoked ? undefined : (terminal ?? over));
};

/** Keeps what others wait on too: it belongs to their requests. */
const onWaitsLeave = (draft: Draft, { call, life, keys }: SignalOf<"waits.leave">): void => {
  for (const key of keys) {
    const row = draft.wait(key);
    if (row?.own?.call !== call || (life !== undefined && row.own.life !== life)) continue;
    const { own: _, ...shared } = row;
    if (row.waiters.some((waiter) => waiter.call !== call)) draft.putWait(shared);
    else release(draft, row);
  }
};

const onForget = (draft: Draft, { request, keys }: SignalOf<"waits.forget">): void => {
  for (const key of keys) {
    const row = draft.wait(key);
    if (row === undefined) continue;
    const requests = row.requests.filter((holder) => holder !== request);
    if (requests.length === 0) draft.dropWait(key, row.terminal);
    else draft.putWait({ ...row, requests });
  }
};

export const wait: Concern<WaitRows, WaitEvent["type"], WaitSignal["type"]> = {
  name: "wait",
  events: {
    "wait.resolved": {
      fields: {
        key: string,
        resolution: Resolution,
        by: optional(string),
        resolution_id: optional(string),
        call: optional(string),
        life: optional(u64),
      },
      fieldsSince: { call: "lives", life: "lives" },
      on: onResolved,
    },
    "wait.cancelled": { fields: { call: string, key: string }, on: onCancelled },
    "wait.revoked": { fields: { keys: array(string) }, on: (draft, { keys }) => revoke(draft, keys) },
  },
  signals: {
    "wait.open": { raises: ["effect.end", "pending.end"], on: onOpen },
    "wait.leave": { raises: ["process.unwait"], on: onLeave },
    "wait.close": { raises: ["effect.end", "pending.end"], on: onClose },
    "waits.leave": { raises: [], on: onWaitsLeave },
    "waits.forget": { raises: [], on: onForget },
    "waits.revoke": { raises: ["effect.end", "pending.end"], on: (draft, { keys }) => revoke(draft, keys) },
    "wait.claim": { raises: [], on: onClaim },
    "wait.settle": { raises: ["effect.end", "pending.end"], on: onSettle },
  },
  commands: {},
  checks: waitChecks,
  rows: { waits: Table.empty(), unclaimed: 0 },
};

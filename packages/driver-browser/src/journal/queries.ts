/** The queries of a journal, which need no ownership. */
import {
  type ChainCheck,
  type JournalLine,
  type InboxMessage,
  type ScopeEntry,
  chainStartOf,
} from "@pawl/runtime/driver";
import { chain } from "@pawl/sansio-core/driver";
import { otherOwner, scopeAt } from "./ownership.ts";
import type { AppendRow, ScopeRow } from "./schema.ts";
import type { Reading } from "./transaction.ts";

/** Returns the range of keys that begin with a scope, from a number on. */
const range = (scope: string, from: number, to = Infinity): IDBKeyRange =>
  IDBKeyRange.bound([scope, from], [scope, to]);

export const rows = (at: Reading, scope: string, from: number): Promise<readonly AppendRow[]> =>
  at.objectStore("append").getAll(range(scope, from));

export const read = async (at: Reading, scope: string, from: number, to: number): Promise<readonly JournalLine[]> => {
  const kept = await at.objectStore("kept").getAll(range(scope, from, to));
  const appended = (await rows(at, scope, from)).flatMap(({ lines }) => lines);
  return [...kept.map(({ seq, line }) => ({ seq, line })), ...appended].filter(({ seq }) => seq >= from && seq <= to);
};

/** Keeps the scopes without a live owner, and those of the instance that asks. */
const free = async (
  at: Reading,
  scopes: readonly ScopeRow[],
  instance: string | undefined,
  now: number,
): Promise<readonly string[]> => {
  const others = await Promise.all(scopes.map((row) => otherOwner(at, row, instance, now)));
  return scopes.filter((_, i) => others[i] === undefined).map(({ name }) => name);
};

export const due = async (at: Reading, until: number, instance: string | undefined, now: number, limit?: number) => {
  const waking = await at.objectStore("scope").index("wake").getAll(IDBKeyRange.upperBound(until));
  return (await free(at, waking, instance, now)).slice(0, limit);
};

export const inbox = async (at: Reading, scope: string): Promise<readonly InboxMessage[]> => {
  const letters = await at.objectStore("letter").getAll(IDBKeyRange.bound([scope], [scope, []]));
  return letters
    .toSorted((a, b) => a.order - b.order)
    .map(({ from, kind, link, number, text }) => ({ from, kind, link, number, text }));
};

export const mailed = async (
  at: Reading,
  instance: string | undefined,
  now: number,
  limit?: number,
): Promise<readonly string[]> => {
  const names = new Set((await at.objectStore("letter").getAllKeys()).map(([to]) => to));
  const known = await Promise.all([...names].map(async (name) => (await scopeAt(at, name)) ?? { ...nobodys, name }));
  return (await free(at, known, instance, now)).slice(0, limit);
};
const nobodys: ScopeRow = { name: "", epoch: 0, protocol: 0, seq: 0, hash: "" };

/** Sorts after every continuation of a prefix. */
const end = "\uffff";

export const scopes = async (at: Reading, prefix: string, after: string, limit?: number) => {
  const from = after > prefix ? after : prefix;
  if (from > prefix + end || limit === 0) return [];
  const found = await at.objectStore("scope").getAll(IDBKeyRange.bound(from, prefix + end, from === after), limit);
  return found.map(({ name, epoch, seq, owner, wakeAt, approvals = 0 }): ScopeEntry => ({
    scope: name,
    epoch,
    seq,
    ...(owner !== undefined && { owner }),
    ...(wakeAt !== undefined && { wakeAt }),
    ...(approvals > 0 && { approvals }),
  }));
};

/** Filters all scopes: a tab has few. */
export const awaitingApproval = async (
  at: Reading,
  prefix: string,
  after: string,
  limit: number,
): Promise<readonly ScopeEntry[]> =>
  (await scopes(at, prefix, after)).filter(({ approvals }) => approvals !== undefined).slice(0, limit);

/** Verifies the hash chain of a scope's log: the lines of every append must yield the hash that was written with it. */
export const verify = async (at: Reading, scope: string): Promise<ChainCheck | undefined> => {
  const row = await scopeAt(at, scope);
  if (row === undefined || row.seq === 0) return undefined;
  const segment = await at.objectStore("segment").get(scope);
  const base = segment?.base ?? 0;
  let hash = segment?.hash ?? chainStartOf(scope);
  for (const append of await rows(at, scope, base + 1)) {
    hash = chain(
      hash,
      append.lines.map(({ line }) => line),
    );
    if (hash !== append.hash) return { type: "broken", base, seq: append.last, expected: append.hash, found: hash };
  }
  if (hash !== row.hash) return { type: "broken", base, seq: row.seq, expected: row.hash, found: hash };
  return { type: "whole", base, seq: row.seq, hash, kept: row.seq };
};

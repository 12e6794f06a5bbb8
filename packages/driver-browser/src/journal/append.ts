/**
 * The writes to the log of a scope. An append writes its lines, index entries and messages, and the new head of the scope, in
 * one transaction. Retention drops the lines up to the latest snapshot, except those that the state refers to.
 */
import type { Append, AppendResult, NotWritten, Retained, OutboxMessage } from "@pawl/runtime/driver";
import { chain } from "@pawl/sansio-core/driver";
import { scopeAt } from "./ownership.ts";
import type { ScopeRow } from "./schema.ts";
import type { Writing } from "./transaction.ts";

/** Returns the refusal for a writer whose epoch is not the current one. */
export const fenced = (row: ScopeRow | undefined, epoch: number): NotWritten | undefined =>
  row !== undefined && epoch === row.epoch && epoch > 0 ? undefined : { type: "fenced", epoch: row?.epoch ?? 0 };

const judge = async (at: Writing, row: ScopeRow, append: Append): Promise<AppendResult | undefined> => {
  const refused = fenced(row, append.epoch);
  if (refused !== undefined) return refused;
  const same = await at.objectStore("append").index("id").getKey([append.scope, append.appendId]);
  if (same !== undefined) return { type: "ok" };
  return append.expectedSeq === row.seq + 1 ? undefined : { type: "conflict", seq: row.seq };
};

export const send = async (at: Writing, from: string, { to, ...letter }: OutboxMessage): Promise<void> => {
  const letters = at.objectStore("letter");
  const before = await letters.get([to, from, letter.kind, letter.link, letter.number]);
  const order = before?.order ?? (await at.objectStore("count").get("letters")) ?? 0;
  if (before === undefined) await at.objectStore("count").put(order + 1, "letters");
  await letters.put({ to, from, ...letter, order });
};

type Lines = Pick<Append, "lines">;
const sizeOf = ({ lines }: Lines): number => lines.reduce((sum, { line }) => sum + line.length, 0);

/** Reserves room for lines; false if there is not enough. */
export const hasRoom = async (at: Writing, append: Lines, most: number): Promise<boolean> => {
  const size = ((await at.objectStore("count").get("size")) ?? 0) + sizeOf(append);
  if (size > most) return false;
  await at.objectStore("count").put(size, "size");
  return true;
};

export const write = async (at: Writing, row: ScopeRow, append: Append): Promise<void> => {
  const { scope, appendId, lines, finished, wakeAt, approvals = row.approvals ?? 0, protocol } = append;
  const { messages, received } = append;
  for (const { from, kind, link, number } of received)
    await at.objectStore("letter").delete([scope, from, kind, link, number]);
  for (const letter of messages) await send(at, scope, letter);
  if (lines.length === 0) return;
  const hash = chain(
    row.hash,
    lines.map(({ line }) => line),
  );
  const seq = row.seq + lines.length;
  const { wakeAt: _before, ...rest } = row;
  await at.objectStore("append").put({ scope, last: seq, appendId, lines, hash });
  await at
    .objectStore("scope")
    .put({ ...rest, seq, hash, protocol, approvals, ...(wakeAt !== undefined && { wakeAt }) });
  for (const one of finished) await at.objectStore("finished").put({ seq: one.seq }, [scope, one.kind, one.id]);
};

/** Writes an append, unless it is fenced, in conflict, or too large. `most` is the room for lines, in characters. */
export const take = async (at: Writing, append: Append, most: number): Promise<AppendResult> => {
  const row = await scopeAt(at, append.scope);
  if (row === undefined) return { type: "fenced", epoch: 0 };
  const judged = await judge(at, row, append);
  if (judged !== undefined) return judged;
  if (!(await hasRoom(at, append, most))) return { type: "full" };
  await write(at, row, append);
  return { type: "ok" };
};

/** Returns the hash of the chain up to a sequence, if an append ends there. */
const linkAt = async (at: Writing, scope: string, seq: number): Promise<string | undefined> => {
  const append = await at.objectStore("append").get([scope, seq]);
  if (append !== undefined) return append.hash;
  const segment = await at.objectStore("segment").get(scope);
  return segment?.base === seq ? segment.hash : undefined;
};

export const keepSnapshot = async (
  at: Writing,
  scope: string,
  epoch: number,
  snapshot: { readonly seq: number; readonly text: string },
): Promise<AppendResult> => {
  const row = await scopeAt(at, scope);
  const refused = fenced(row, epoch);
  if (refused !== undefined || row === undefined) return refused ?? { type: "fenced", epoch: 0 };
  if ((await linkAt(at, scope, snapshot.seq)) === undefined) return { type: "conflict", seq: row.seq };
  await at.objectStore("snapshot").put(snapshot, scope);
  return { type: "ok" };
};

const drop = async (at: Writing, scope: string, base: number, keep: ReadonlySet<number>): Promise<void> => {
  const upTo = IDBKeyRange.bound([scope, 0], [scope, base]);
  let freed = 0;
  for (const line of await at.objectStore("kept").getAll(upTo)) {
    if (keep.has(line.seq)) continue;
    await at.objectStore("kept").delete([scope, line.seq]);
    freed += line.line.length;
  }
  for (const { last, lines } of await at.objectStore("append").getAll(upTo)) {
    for (const line of lines) {
      if (keep.has(line.seq)) await at.objectStore("kept").put({ scope, ...line });
      else freed += line.line.length;
    }
    await at.objectStore("append").delete([scope, last]);
  }
  const size = (await at.objectStore("count").get("size")) ?? 0;
  await at.objectStore("count").put(Math.max(0, size - freed), "size");
};

/** Drops the lines up to the latest snapshot, except `keep`; the snapshot becomes the segment before them. */
export const retain = async (at: Writing, scope: string, epoch: number, keep: readonly number[]): Promise<Retained> => {
  const row = await scopeAt(at, scope);
  const refused = fenced(row, epoch);
  if (refused !== undefined || row === undefined) return refused ?? { type: "fenced", epoch: 0 };
  const snapshot = await at.objectStore("snapshot").get(scope);
  const hash = snapshot && (await linkAt(at, scope, snapshot.seq));
  if (snapshot === undefined || hash === undefined) return { type: "conflict", seq: row.seq };
  await drop(at, scope, snapshot.seq, new Set(keep));
  await at.objectStore("segment").put({ base: snapshot.seq, hash, snapshot: snapshot.text }, scope);
  return { type: "ok", base: snapshot.seq };
};

/** Snapshots, and what retention leaves of the lines up to one. */
import type { AppendResult, Retained } from "@pawl/runtime/driver";
import { fenced } from "./append.ts";
import { scopeAt } from "./owner.ts";
import type { Writing } from "./transaction.ts";

/** The chain up to a sequence at which an append ends. */
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

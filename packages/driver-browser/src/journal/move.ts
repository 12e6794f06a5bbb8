/** The part of a journal that moves scopes between stores: adopting a scope, declining it, and the record of either. */
import { type Adoption, type IndexEntry, type MoveEnd, type MoveStore, chainStartOf } from "@pawl/runtime/driver";
import { fenced, hasRoom, send, write } from "./append.ts";
import { scopeAt } from "./ownership.ts";
import type { ScopeRow } from "./schema.ts";
import type { Reading, Writing } from "./transaction.ts";

export type Adopted = Awaited<ReturnType<MoveStore["adopt"]>>;

const all = (scope: string): IDBKeyRange => IDBKeyRange.bound([scope], [scope, []]);

/** Deletes the log of a scope, but not its index entries and messages. */
const clear = async (at: Writing, scope: string): Promise<void> => {
  const appended = (await at.objectStore("append").getAll(all(scope))).flatMap(({ lines }) => lines);
  const kept = await at.objectStore("kept").getAll(all(scope));
  const freed = [...appended, ...kept].reduce((sum, { line }) => sum + line.length, 0);
  const size = (await at.objectStore("count").get("size")) ?? 0;
  await at.objectStore("count").put(Math.max(0, size - freed), "size");
  for (const store of ["append", "kept"] as const) await at.objectStore(store).delete(all(scope));
  for (const store of ["snapshot", "segment"] as const) await at.objectStore(store).delete(scope);
};

/** Replaces the log of a scope by one append that holds all of it. */
const replace = async (at: Writing, row: ScopeRow, adoption: Adoption, most: number): Promise<boolean> => {
  const { scope, segment, kept } = adoption;
  await clear(at, scope);
  const base = segment?.base ?? 0;
  const append = { ...adoption, expectedSeq: base + 1, messages: [], received: [] };
  if (!(await hasRoom(at, { lines: [...kept, ...adoption.lines] }, most))) return false;
  await write(at, { ...row, seq: base, hash: segment?.hash ?? chainStartOf(scope) }, append);
  for (const line of kept) await at.objectStore("kept").put({ scope, ...line });
  if (segment !== undefined) await at.objectStore("segment").put(segment, scope);
  return true;
};

const bring = async (at: Writing, adoption: Adoption): Promise<void> => {
  const { scope, nonce, epoch, letters, secrets } = adoption;
  for (const { from, ...letter } of letters) await send(at, from, { to: scope, ...letter });
  for (const own of secrets) await at.objectStore("secret").put(own, [scope, own.kid, own.secret]);
  await at.objectStore("moved").put({ type: "received", epoch }, [scope, nonce]);
};

/** Adopts a scope. The caller must abort the transaction if the answer is `full`. */
export const adopt = async (at: Writing, adoption: Adoption, most: number): Promise<Adopted> => {
  const { scope, nonce, epoch } = adoption;
  const ended = await at.objectStore("moved").get([scope, nonce]);
  if (ended !== undefined) return ended.type === "never" ? ended : { type: "ok" };
  const row = await scopeAt(at, scope);
  const refused = fenced(row, epoch);
  if (refused !== undefined || row === undefined) return refused ?? { type: "fenced", epoch: 0 };
  if (!(await replace(at, row, adoption, most))) return { type: "full" };
  await bring(at, adoption);
  return { type: "ok" };
};

export const decline = async (at: Writing, scope: string, nonce: string): Promise<MoveEnd> => {
  const moved = at.objectStore("moved");
  const ended = await moved.get([scope, nonce]);
  if (ended === undefined) await moved.put({ type: "never" }, [scope, nonce]);
  return ended ?? { type: "never" };
};

export const index = async (at: Reading, scope: string): Promise<readonly IndexEntry[]> => {
  const finished = at.objectStore("finished");
  const [keys, values] = await Promise.all([finished.getAllKeys(all(scope)), finished.getAll(all(scope))]);
  return keys.map(([, kind, id], i) => ({ kind, id, seq: values[i]?.seq ?? 0 }));
};

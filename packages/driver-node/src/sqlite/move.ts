/** Moves between stores, as a journal file records them. */
import type { Adoption, IndexEntry, MoveEnd, MoveStore } from "@pawl/runtime/driver";
import type { Connection } from "./connection.ts";
import { failure } from "./file-error.ts";
import { type Row, integer, optional, text } from "./sql.ts";
import type { ScopeRow, ScopeIndex } from "./scope-index.ts";

type Adopted = Awaited<ReturnType<MoveStore["adopt"]>>;

const moveEndIn = (row: Row): MoveEnd => {
  const epoch = optional(integer, row, "epoch");
  return epoch === undefined ? { type: "never" } : { type: "received", epoch };
};

const moveEndOf = ({ sql }: Connection, scope: string, nonce: string): MoveEnd | undefined => {
  const row = sql.moved.get(scope, nonce);
  return row === undefined ? undefined : moveEndIn(row);
};

/** Stores the whole log as one row, in place of everything that the scope had here. */
const replaceLog = ({ sql }: Connection, { id }: ScopeRow, adoption: Adoption): void => {
  const { lines, segment, kept, appendId, wakeAt = null, approvals, protocol, epoch } = adoption;
  const base = segment?.base ?? 0;
  const whole = lines.map(({ line }) => line).join("");
  const { lastInsertRowid } = sql.append.run(id, null, base + 1, base + lines.length, appendId, wakeAt, whole, null);
  sql.cutBefore.run(id, lastInsertRowid);
  for (const drop of [sql.dropKept, sql.dropChain, sql.dropSnapshot, sql.dropSegment]) drop.run(id);
  for (const { seq, line } of kept) sql.keep.run(id, seq, line);
  if (segment !== undefined) sql.setSegment.run(id, segment.base, segment.hash, segment.snapshot);
  sql.protocol.run(protocol, id);
  sql.approvals.run(approvals, id);
  sql.setMoved.run(adoption.scope, adoption.nonce, epoch);
};

const storeArrivals = (
  { sql }: Connection,
  { id }: ScopeRow,
  { scope, finished, letters, secrets }: Adoption,
): void => {
  for (const { kind, id: name, seq } of finished) sql.indexFinished.run(id, kind, name, seq);
  for (const { from, kind, link, number, text: body } of letters) sql.send.run(scope, from, kind, link, number, body);
  for (const { kid, secret } of secrets) sql.keepSecret.run(scope, kid, secret);
};

const adopt = (connection: Connection, index: ScopeIndex, adoption: Adoption): Adopted => {
  const { scope, nonce, epoch } = adoption;
  try {
    return connection.transact((): Adopted => {
      const end = moveEndOf(connection, scope, nonce);
      if (end !== undefined) return end.type === "never" ? end : { type: "ok" };
      const scopeRow = index.read(scope);
      if (scopeRow === undefined || scopeRow.epoch !== epoch) return { type: "fenced", epoch: scopeRow?.epoch ?? 0 };
      replaceLog(connection, scopeRow, adoption);
      storeArrivals(connection, scopeRow, adoption);
      return { type: "ok" };
    });
  } catch (thrown) {
    return failure(thrown, connection.file);
  } finally {
    index.forget(scope);
  }
};

const decline = (connection: Connection, scope: string, nonce: string): MoveEnd =>
  connection.transact(() => {
    const end = moveEndOf(connection, scope, nonce);
    if (end === undefined) connection.sql.setMoved.run(scope, nonce, null);
    return end ?? { type: "never" };
  });

export const fileMoves = (connection: Connection, index: ScopeIndex): MoveStore => ({
  adopt: async (adoption) => adopt(connection, index, adoption),
  decline: async (scope, nonce) => decline(connection, scope, nonce),
  ended: async (scope, nonce) => connection.query(() => moveEndOf(connection, scope, nonce)),
  secrets: async (scope) =>
    connection.query(() =>
      connection.sql.secrets.all(scope).map((row) => ({ kid: text(row, "kid"), secret: text(row, "secret") })),
    ),
  index: async (scope) =>
    connection.unsynced(() => {
      index.catchUp();
      return connection.sql.index.all(scope).map((row) => ({
        kind: text(row, "kind") as IndexEntry["kind"],
        id: text(row, "id"),
        seq: integer(row, "seq"),
      }));
    }),
});

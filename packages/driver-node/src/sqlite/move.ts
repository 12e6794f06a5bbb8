/** What a journal file keeps of moves between stores. */
import type { Adoption, IndexEntry, MoveEnd, MoveStore } from "@pawl/runtime";
import type { Connection } from "./connection.ts";
import { failure } from "./failure.ts";
import { type Row, integer, optional, text } from "./row.ts";
import type { Standing, Standings } from "./standing.ts";

type Adopted = Awaited<ReturnType<MoveStore["adopt"]>>;

const endIn = (row: Row): MoveEnd => {
  const epoch = optional(integer, row, "epoch");
  return epoch === undefined ? { type: "never" } : { type: "received", epoch };
};

const endOf = ({ sql }: Connection, scope: string, nonce: string): MoveEnd | undefined => {
  const row = sql.moved.get(scope, nonce);
  return row === undefined ? undefined : endIn(row);
};

/** The whole log as one row that has none before it; what stood here of the scope goes. */
const replaceLog = ({ sql }: Connection, { id }: Standing, adoption: Adoption): void => {
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

const bring = ({ sql }: Connection, { id }: Standing, { scope, finished, letters, secrets }: Adoption): void => {
  for (const { kind, id: name, seq } of finished) sql.indexFinished.run(id, kind, name, seq);
  for (const { from, kind, link, number, text: letter } of letters)
    sql.send.run(scope, from, kind, link, number, letter);
  for (const { kid, secret } of secrets) sql.keepSecret.run(scope, kid, secret);
};

const adopt = (at: Connection, standings: Standings, adoption: Adoption): Adopted => {
  const { scope, nonce, epoch } = adoption;
  try {
    return at.transact((): Adopted => {
      const end = endOf(at, scope, nonce);
      if (end !== undefined) return end.type === "never" ? end : { type: "ok" };
      const standing = standings.read(scope);
      if (standing === undefined || standing.epoch !== epoch) return { type: "fenced", epoch: standing?.epoch ?? 0 };
      replaceLog(at, standing, adoption);
      bring(at, standing, adoption);
      return { type: "ok" };
    });
  } catch (thrown) {
    return failure(thrown, at.file);
  } finally {
    standings.forget(scope);
  }
};

const decline = (at: Connection, scope: string, nonce: string): MoveEnd =>
  at.transact(() => {
    const end = endOf(at, scope, nonce);
    if (end === undefined) at.sql.setMoved.run(scope, nonce, null);
    return end ?? { type: "never" };
  });

export const fileMoves = (at: Connection, standings: Standings): MoveStore => ({
  adopt: async (adoption) => adopt(at, standings, adoption),
  decline: async (scope, nonce) => decline(at, scope, nonce),
  ended: async (scope, nonce) => at.ask(() => endOf(at, scope, nonce)),
  secrets: async (scope) =>
    at.ask(() => at.sql.secrets.all(scope).map((row) => ({ kid: text(row, "kid"), secret: text(row, "secret") }))),
  index: async (scope) =>
    at.unsynced(() => {
      standings.catchUp();
      return at.sql.index.all(scope).map((row) => ({
        kind: text(row, "kind") as IndexEntry["kind"],
        id: text(row, "id"),
        seq: integer(row, "seq"),
      }));
    }),
});

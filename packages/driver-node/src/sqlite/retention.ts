/** Snapshots, and retention, which deletes the lines before one. */
import type { AppendResult, NotWritten, Retained, Segment, Snapshot } from "@pawl/runtime/driver";
import { chainTo } from "./chain.ts";
import type { Connection } from "./connection.ts";
import { failure } from "./file-error.ts";
import { type Place, appendsBackwards, textsAt } from "./lines.ts";
import { integer, text } from "./sql.ts";
import type { ScopeRow, ScopeIndex } from "./scope-index.ts";

/** Runs a write if the epoch still holds; otherwise returns why it was not done. */
const underEpoch = <A>(
  connection: Connection,
  scopeRow: () => ScopeRow | undefined,
  epoch: number,
  write: (scopeRow: ScopeRow) => A | NotWritten,
  { isSynced = true }: { readonly isSynced?: boolean } = {},
): A | NotWritten => {
  try {
    return connection[isSynced ? "transact" : "unsynced"](() => {
      const found = scopeRow();
      if (found === undefined || found.epoch === 0 || found.epoch !== epoch)
        return { type: "fenced", epoch: found?.epoch ?? 0 };
      return write(found);
    });
  } catch (thrown) {
    return failure(thrown, connection.file);
  }
};

/** Stores a snapshot without a sync. A power cut leaves the previous one, or the segment of the last retention. */
export const putSnapshot = (
  connection: Connection,
  index: ScopeIndex,
  name: string,
  epoch: number,
  { seq, text: state }: Snapshot,
): AppendResult =>
  underEpoch<AppendResult>(
    connection,
    () => index.inTransaction(name),
    epoch,
    ({ id, head, seq: newest }) => {
      let place: Place | undefined;
      for (const one of appendsBackwards(connection, head, seq)) place = one;
      if (place?.last !== seq) return { type: "conflict", seq: newest };
      connection.sql.setSnapshot.run(id, place.row, seq, state);
      return { type: "ok" };
    },
    { isSynced: false },
  );

/**
 * Deletes an append, except the lines to keep. The last one stays as an empty row, so that its number is not used
 * again.
 */
const deleteAppend = (
  connection: Connection,
  id: number,
  place: Place,
  keep: ReadonlySet<number>,
  isLast: boolean,
): void => {
  const isKept = Array.from({ length: place.last - place.first + 1 }, (_, i) => keep.has(place.first + i));
  if (isKept.includes(true))
    for (const [i, line] of textsAt(connection, place).entries())
      if (isKept[i]) connection.sql.keep.run(id, place.first + i, line);
  if (isLast) connection.sql.empty.run(place.row);
  else connection.sql.cut.run(place.row);
};

const deleteKept = ({ sql }: Connection, id: number, keep: ReadonlySet<number>): void => {
  for (const row of sql.kept.all(id, 0, Number.MAX_SAFE_INTEGER)) {
    const seq = integer(row, "seq");
    if (!keep.has(seq)) sql.drop.run(id, seq);
  }
};

export const retain = (
  connection: Connection,
  index: ScopeIndex,
  name: string,
  epoch: number,
  keep: ReadonlySet<number>,
): Retained =>
  underEpoch<Retained>(
    connection,
    () => index.read(name),
    epoch,
    ({ id, seq }) => {
      const snapshot = connection.sql.snapshot.get(id);
      if (snapshot === undefined) return { type: "conflict", seq };
      const [base, row] = [integer(snapshot, "seq"), integer(snapshot, "row")];
      const { hash } = chainTo(connection, { name, id }, row, base);
      const places = [...appendsBackwards(connection, row, 0)];
      deleteKept(connection, id, keep);
      for (const [i, place] of places.entries()) deleteAppend(connection, id, place, keep, i === 0);
      const older = places.at(-1)?.before;
      if (older !== undefined) connection.sql.cut.run(older);
      connection.sql.setSegment.run(id, base, hash, text(snapshot, "text"));
      return { type: "ok", base };
    },
  );

export const segment = (connection: Connection, name: string): Segment | undefined =>
  connection.query(() => {
    const row = connection.sql.segment.get(name);
    if (row === undefined) return undefined;
    return { base: integer(row, "base"), hash: text(row, "hash"), snapshot: text(row, "snapshot") };
  });

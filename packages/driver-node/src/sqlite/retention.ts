/** Snapshots, and what retention leaves where it deletes. */
import type { AppendResult, NotWritten, Retained, Segment, Snapshot } from "@pawl/runtime";
import { chainTo } from "./chain.ts";
import type { Connection } from "./connection.ts";
import { failure } from "./failure.ts";
import { type Place, placesBack, textsAt } from "./lines.ts";
import { integer, text } from "./row.ts";
import type { Standing, Standings } from "./standing.ts";

/** Does a write under the epoch check, and says in the port's words why it was not done. */
const asOwner = <A>(
  at: Connection,
  standing: () => Standing | undefined,
  epoch: number,
  write: (standing: Standing) => A | NotWritten,
  { isSynced = true }: { readonly isSynced?: boolean } = {},
): A | NotWritten => {
  try {
    return at[isSynced ? "transact" : "unsynced"](() => {
      const found = standing();
      if (found === undefined || found.epoch === 0 || found.epoch !== epoch)
        return { type: "fenced", epoch: found?.epoch ?? 0 };
      return write(found);
    });
  } catch (thrown) {
    return failure(thrown, at.file);
  }
};

/** A snapshot waits for no sync: a power cut leaves the one before, or what retention has made sure of. */
export const putSnapshot = (
  at: Connection,
  standings: Standings,
  name: string,
  epoch: number,
  { seq, text: state }: Snapshot,
): AppendResult =>
  asOwner<AppendResult>(
    at,
    () => standings.inTransaction(name),
    epoch,
    ({ id, head, seq: newest }) => {
      let place: Place | undefined;
      for (const one of placesBack(at, head, seq)) place = one;
      if (place?.last !== seq) return { type: "conflict", seq: newest };
      at.sql.setSnapshot.run(id, place.row, seq, state);
      return { type: "ok" };
    },
    { isSynced: false },
  );

/** Deletes one append, but for the lines to be kept. The last one stays, empty: its number is not used again. */
const cut = (at: Connection, id: number, place: Place, keep: ReadonlySet<number>, isLast: boolean): void => {
  const isKept = Array.from({ length: place.last - place.first + 1 }, (_, i) => keep.has(place.first + i));
  if (isKept.includes(true))
    for (const [i, line] of textsAt(at, place).entries()) if (isKept[i]) at.sql.keep.run(id, place.first + i, line);
  if (isLast) at.sql.empty.run(place.row);
  else at.sql.cut.run(place.row);
};

const dropKept = ({ sql }: Connection, id: number, keep: ReadonlySet<number>): void => {
  for (const row of sql.kept.all(id, 0, Number.MAX_SAFE_INTEGER)) {
    const seq = integer(row, "seq");
    if (!keep.has(seq)) sql.drop.run(id, seq);
  }
};

export const retain = (
  at: Connection,
  standings: Standings,
  name: string,
  epoch: number,
  keep: ReadonlySet<number>,
): Retained =>
  asOwner<Retained>(
    at,
    () => standings.read(name),
    epoch,
    ({ id, seq }) => {
      const snapshot = at.sql.snapshot.get(id);
      if (snapshot === undefined) return { type: "conflict", seq };
      const [base, row] = [integer(snapshot, "seq"), integer(snapshot, "row")];
      const { hash } = chainTo(at, { name, id }, row, base);
      const places = [...placesBack(at, row, 0)];
      dropKept(at, id, keep);
      for (const [i, place] of places.entries()) cut(at, id, place, keep, i === 0);
      const older = places.at(-1)?.before;
      if (older !== undefined) at.sql.cut.run(older);
      at.sql.setSegment.run(id, base, hash, text(snapshot, "text"));
      return { type: "ok", base };
    },
  );

export const segment = (at: Connection, name: string): Segment | undefined =>
  at.ask(() => {
    const row = at.sql.segment.get(name);
    if (row === undefined) return undefined;
    return { base: integer(row, "base"), hash: text(row, "hash"), snapshot: text(row, "snapshot") };
  });

/** What can be read of a journal file without owning anything. */
import type { Journal, JournalLine, Letter, ScopeEntry } from "@pawl/runtime";
import type { Connection } from "./connection.ts";
import { JournalFileError } from "./file-error.ts";
import { endLeases } from "./lease.ts";
import { readLines } from "./lines.ts";
import { type Row, integer, optional, text } from "./row.ts";
import type { Standings } from "./standing.ts";

const names = (rows: readonly Row[]): readonly string[] => rows.map((row) => text(row, "name"));

export const read = (
  at: Connection,
  standings: Standings,
  scope: string,
  from: number,
  to: number,
): readonly JournalLine[] =>
  at.unsynced(() => {
    const standing = standings.read(scope);
    return standing === undefined ? [] : readLines(at, standing, from, to);
  });

const seqIn = (row: Row | undefined): number | undefined => (row === undefined ? undefined : integer(row, "seq"));

/** Of a scope that appends from here memory knows what the index does not have yet; of another nobody does. */
export const find = (
  at: Connection,
  standings: Standings,
  scope: string,
  kind: string,
  id: string,
): number | undefined => {
  const known = standings.unclaimed(scope);
  if (known === undefined)
    return at.unsynced(() => {
      standings.catchUp();
      return seqIn(at.sql.find.get(scope, kind, id));
    });
  if (!standings.mayHaveFinished(known, kind, id)) return undefined;
  return standings.finishing(known.id, kind, id) ?? at.ask(() => seqIn(at.sql.findOf.get(known.id, kind, id)));
};

export const due = (
  at: Connection,
  standings: Standings,
  now: number,
  { instance, limit = -1 }: { readonly instance: string | undefined; readonly limit: number | undefined },
): readonly string[] =>
  at.unsynced(() => {
    standings.catchUp();
    endLeases(at);
    return names(at.sql.due.all(now, at.now(), instance ?? null, limit));
  });

const letterIn = (row: Row): Letter => {
  const kind = text(row, "kind");
  if (kind !== "message" && kind !== "answer")
    throw new JournalFileError("not_intact", `a letter is a message or an answer, found ${kind}: restore a copy`);
  const [link, number] = [integer(row, "link"), integer(row, "number")];
  return { kind, link, number, from: text(row, "source"), text: text(row, "text") };
};

export const inbox = (at: Connection, scope: string): readonly Letter[] =>
  at.ask(() => at.sql.inbox.all(scope).map(letterIn));

export const mailed = (at: Connection, instance: string | undefined, limit = -1): readonly string[] =>
  at.ask(() => names(at.sql.mailed.all(at.now(), instance ?? null, limit)));

const heldIn = (row: Row): ScopeEntry["held"] => {
  if (optional(integer, row, "held") !== 1) return undefined;
  const address = optional(text, row, "address");
  return address === undefined ? {} : { address };
};

const entryOf = (row: Row): ScopeEntry => {
  const held = heldIn(row);
  const [owner, wakeAt] = [optional(text, row, "owner"), optional(integer, row, "wake_at")];
  const approvals = optional(integer, row, "approvals") ?? 0;
  return {
    scope: text(row, "name"),
    epoch: integer(row, "epoch"),
    seq: integer(row, "seq"),
    ...(owner !== undefined && { owner }),
    ...(held !== undefined && { held }),
    ...(wakeAt !== undefined && { wakeAt }),
    ...(approvals > 0 && { approvals }),
  };
};

const lastPoint = 0x10ffff;

/**
 * What follows on all names with a prefix, in the order of code points: SQLite's functions see no text behind a NUL. No
 * text follows on those with no prefix, but bytes do, in its order.
 */
const behind = (prefix: string): string | Uint8Array => {
  const points = [...prefix].map((one) => one.codePointAt(0) ?? 0);
  while (points.at(-1) === lastPoint) points.pop();
  const last = points.pop();
  if (last === undefined) return new Uint8Array();
  const next = last === 0xd7ff ? 0xe000 : last + 1; // What lies between is no character.
  return String.fromCodePoint(...points, next);
};

/** The name that comes next after one, if there were a scope of every name. */
const next = (name: string): string => (name === "" ? "" : `${name}\0`);

export const scopes = (
  at: Connection,
  standings: Standings,
  which: "scopes" | "awaitingApproval",
  [prefix, after, limit]: Parameters<Journal["scopes"]>,
): readonly ScopeEntry[] =>
  at.unsynced(() => {
    standings.catchUp();
    endLeases(at);
    return at.sql[which].all(at.now(), next(after), prefix, behind(prefix), limit).map(entryOf);
  });

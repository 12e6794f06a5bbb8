/** Queries on a journal file that need no ownership. */
import type { Journal } from "@pawl/runtime";
import type { JournalLine, InboxMessage, ScopeEntry } from "@pawl/runtime/driver";
import type { Connection } from "./connection.ts";
import { JournalFileError } from "./file-error.ts";
import { expireDeadLeases } from "./ownership.ts";
import { readLines } from "./lines.ts";
import { type Row, integer, optional, text } from "./sql.ts";
import type { ScopeIndex } from "./scope-index.ts";

const names = (rows: readonly Row[]): readonly string[] => rows.map((row) => text(row, "name"));

export const read = (
  connection: Connection,
  index: ScopeIndex,
  scope: string,
  from: number,
  to: number,
): readonly JournalLine[] =>
  connection.unsynced(() => {
    const scopeRow = index.read(scope);
    return scopeRow === undefined ? [] : readLines(connection, scopeRow, from, to);
  });

const seqIn = (row: Row | undefined): number | undefined => (row === undefined ? undefined : integer(row, "seq"));

/**
 * Finds the event that finished something. For a scope that appends here, memory knows what the file's index does not
 * have yet.
 */
export const find = (
  connection: Connection,
  index: ScopeIndex,
  scope: string,
  kind: string,
  id: string,
): number | undefined => {
  const known = index.unclaimed(scope);
  if (known === undefined)
    return connection.unsynced(() => {
      index.catchUp();
      return seqIn(connection.sql.find.get(scope, kind, id));
    });
  if (!index.mayHaveFinished(known, kind, id)) return undefined;
  return (
    index.finishing(known.id, kind, id) ?? connection.query(() => seqIn(connection.sql.findOf.get(known.id, kind, id)))
  );
};

export const due = (
  connection: Connection,
  index: ScopeIndex,
  now: number,
  { instance, limit = -1 }: { readonly instance: string | undefined; readonly limit: number | undefined },
): readonly string[] =>
  connection.unsynced(() => {
    index.catchUp();
    expireDeadLeases(connection);
    return names(connection.sql.due.all(now, connection.now(), instance ?? null, limit));
  });

const messageIn = (row: Row): InboxMessage => {
  const kind = text(row, "kind");
  if (kind !== "message" && kind !== "answer")
    throw new JournalFileError("not_intact", `an inbox holds messages and answers, found ${kind}: restore a backup`);
  const [link, number] = [integer(row, "link"), integer(row, "number")];
  return { kind, link, number, from: text(row, "source"), text: text(row, "text") };
};

export const inbox = (connection: Connection, scope: string): readonly InboxMessage[] =>
  connection.query(() => connection.sql.inbox.all(scope).map(messageIn));

export const mailed = (connection: Connection, instance: string | undefined, limit = -1): readonly string[] =>
  connection.query(() => names(connection.sql.mailed.all(connection.now(), instance ?? null, limit)));

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
 * Returns the upper bound of all names with a prefix, in code point order. SQLite's own functions stop at a NUL. For
 * the empty prefix it is a blob, which SQLite orders behind all text.
 */
const prefixEnd = (prefix: string): string | Uint8Array => {
  const points = [...prefix].map((one) => one.codePointAt(0) ?? 0);
  while (points.at(-1) === lastPoint) points.pop();
  const last = points.pop();
  if (last === undefined) return new Uint8Array();
  const next = last === 0xd7ff ? 0xe000 : last + 1; // Skips the surrogates, which are not characters.
  return String.fromCodePoint(...points, next);
};

/** Returns the smallest text after a name. */
const next = (name: string): string => (name === "" ? "" : `${name}\0`);

export const scopes = (
  connection: Connection,
  index: ScopeIndex,
  which: "scopes" | "awaitingApproval",
  [prefix, after, limit]: Parameters<Journal["scopes"]>,
): readonly ScopeEntry[] =>
  connection.unsynced(() => {
    index.catchUp();
    expireDeadLeases(connection);
    return connection.sql[which].all(connection.now(), next(after), prefix, prefixEnd(prefix), limit).map(entryOf);
  });

/** Reads that need no ownership: lines, the finished index, inboxes, and lists of scopes. */
import type { Journal } from "@pawl/runtime";
import type { InboxMessage, JournalLine, ScopeEntry } from "@pawl/runtime/driver";
import {
  type Database,
  type Now,
  type Row,
  type Statement,
  integer,
  nameIn,
  optional,
  stored,
  text,
  named,
} from "./database.ts";
import type { Scopes } from "./scopes.ts";

type Queries = Pick<Journal, "read" | "find" | "due" | "inbox" | "mailed" | "scopes" | "awaitingApproval">;

/** The owners whose scopes an instance may open: nobody, itself, and those without a lease. */
const free = (s: string, instance: string, now: string): string =>
  `(SELECT 0::bigint AS id UNION ALL
    SELECT id FROM ${s}.instance WHERE has_left OR until IS NULL OR until <= ${s}.clock(${now}) OR name = ${instance})`;

const entries = (s: string, where: string): string =>
  `SELECT x.name, x.epoch, x.seq, x.wake_at, x.approvals, i.name AS owner, i.address,
     i.until > ${s}.clock($4) AS is_held FROM ${s}.scope x LEFT JOIN ${s}.instance i ON i.id = x.owner AND NOT i.has_left
   WHERE x.name > $2 AND left(x.name, length($1)) = $1 AND x.name >= $1 ${where} ORDER BY x.name LIMIT $3`;

const statements = (s: string) => ({
  read: named(
    "read",
    `SELECT first, last, lines FROM (
       SELECT seq AS first, seq AS last, line AS lines FROM ${s}.kept
         WHERE scope = (SELECT id FROM ${s}.scope WHERE name = $1) AND seq BETWEEN $2::bigint AND $3::bigint
       UNION ALL
       (SELECT first, last, lines FROM ${s}.append
         WHERE scope = (SELECT id FROM ${s}.scope WHERE name = $1) AND last >= $2::bigint
         ORDER BY last LIMIT $4::bigint)) x
     WHERE first <= $3::bigint ORDER BY first`,
  ),
  find: named(
    "find",
    `SELECT seq FROM (
       SELECT (f->>2)::bigint AS seq FROM ${s}.append a, json_array_elements(a.finished::json) f
         WHERE a.scope = (SELECT id FROM ${s}.scope WHERE name = $1)
           AND a.last > coalesce((SELECT seq FROM ${s}.sorted WHERE scope = (SELECT id FROM ${s}.scope WHERE name = $1)), 0)
           AND a.finished IS NOT NULL AND f->>0 = $2 AND f->>1 = $3
       UNION ALL
       SELECT seq FROM ${s}.finished WHERE scope = (SELECT id FROM ${s}.scope WHERE name = $1) AND kind = $2 AND id = $3) x
     ORDER BY seq DESC LIMIT 1`,
  ),
  due: named(
    "due",
    `SELECT x.name FROM ${free(s, "$2", "$4")} o, LATERAL (
       SELECT name, wake_at FROM ${s}.scope WHERE owner = o.id AND wake_at <= $1::bigint ORDER BY wake_at LIMIT $3) x
     ORDER BY x.wake_at LIMIT $3`,
  ),
  inbox: named(
    "inbox",
    `SELECT source, kind, link, number, body FROM ${s}.letter
     WHERE target = (SELECT id FROM ${s}.scope WHERE name = $1) ORDER BY id`,
  ),
  mailed: named(
    "mailed",
    `WITH RECURSIVE t AS (
       (SELECT target FROM ${s}.letter ORDER BY target LIMIT 1)
       UNION ALL SELECT (SELECT l.target FROM ${s}.letter l WHERE l.target > t.target ORDER BY l.target LIMIT 1) FROM t WHERE t.target IS NOT NULL)
     SELECT x.name FROM t JOIN ${s}.scope x ON x.id = t.target WHERE x.owner IN (SELECT id FROM ${free(s, "$1", "$3")} o) LIMIT $2`,
  ),
  scopes: named("scopes", entries(s, "")),
  awaitingApproval: named("awaiting_approval", entries(s, "AND x.approvals > 0")),
});

/** Splits the lines of one row, and adds those between two sequences. */
const putLines = (row: Row, from: number, to: number, into: JournalLine[]): void => {
  const [lines, first] = [text(row, "lines"), integer(row, "first")];
  for (let seq = first, at = 0; at < lines.length && seq <= to; seq++) {
    const end = lines.indexOf("\n", at) + 1 || lines.length;
    if (seq >= from) into.push({ seq, line: lines.slice(at, end) });
    at = end;
  }
};

const letterOf = (row: Row): InboxMessage => ({
  from: nameIn(row, "source"),
  kind: text(row, "kind") === "answer" ? "answer" : "message",
  link: integer(row, "link"),
  number: integer(row, "number"),
  text: text(row, "body"),
});

const entryOf = (row: Row): ScopeEntry => {
  const [owner, address] = [optional(nameIn, row, "owner"), optional(text, row, "address")];
  const [wakeAt, approvals] = [optional(integer, row, "wake_at"), integer(row, "approvals")];
  return {
    scope: nameIn(row, "name"),
    epoch: integer(row, "epoch"),
    seq: integer(row, "seq"),
    ...(owner !== undefined && { owner }),
    ...(row["is_held"] === true && { held: address === undefined ? {} : { address } }),
    ...(wakeAt !== undefined && { wakeAt }),
    ...(approvals > 0 && { approvals }),
  };
};

const names = (rows: readonly Row[]): readonly string[] => rows.map((row) => nameIn(row, "name"));

const most = Number.MAX_SAFE_INTEGER;

export const queries = (database: Database, scopes: Scopes, schema: string, now: Now): Queries => {
  const sql = statements(schema);
  const list = async (statement: Statement, prefix: string, after: string, limit: number) => {
    await scopes.tell();
    const rows = await database.query(statement, [stored(prefix), stored(after), limit, now()]);
    return rows.map(entryOf);
  };
  return {
    read: async (scope, from, to = most) => {
      const upTo = Math.min(to, most);
      const rows = await database.query(sql.read, [stored(scope), from, upTo, Math.max(0, upTo - from + 1)]);
      const lines: JournalLine[] = [];
      for (const row of rows) putLines(row, from, upTo, lines);
      return lines;
    },
    find: async (scope, kind, id) => {
      if (scopes.hasNot(scope, kind, id)) return undefined;
      const [row] = await database.query(sql.find, [stored(scope), kind, stored(id)]);
      return optional(integer, row, "seq");
    },
    due: async (until, instance, limit = most) => {
      await scopes.tell();
      return names(await database.query(sql.due, [Math.floor(until), stored(instance ?? ""), limit, now()]));
    },
    inbox: async (scope) => (await database.query(sql.inbox, [stored(scope)])).map(letterOf),
    mailed: async (instance, limit = most) =>
      names(await database.query(sql.mailed, [stored(instance ?? ""), limit, now()])),
    scopes: (prefix, after, limit) => list(sql.scopes, prefix, after, limit),
    awaitingApproval: (prefix, after, limit) => list(sql.awaitingApproval, prefix, after, limit),
  };
};

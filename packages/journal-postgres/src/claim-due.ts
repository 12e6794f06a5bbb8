/**
 * Claims of what is due, many in one statement: scopes of nobody, and those of instances that are gone, each with its snapshot and
 * the lines after it. Rows that another host is claiming are skipped, so no claim is in vain.
 */
import type { Brought, Claim, ClaimedDue, Holding, LastOwner, Snapshot } from "@pawl/runtime/driver";
import { type Database, type Now, type Row, integer, named, nameIn, optional, stored, text } from "./database.ts";
import type { Scopes } from "./scopes.ts";

/** More lines than this do not come along: many scopes share one answer. */
const mostLines = 200;

/**
 * Locks the owners that are gone before their scopes. One of them that joins again meanwhile waits, and finds them claimed.
 * Scopes that somebody else has locked are skipped, so that hosts never wait for each other here.
 */
export const claimDueFunction = (s: string): string => `
CREATE OR REPLACE FUNCTION ${s}.claim_due(by text, knows int, until bigint, most int, told bigint)
RETURNS TABLE (name text, token text, id bigint, epoch bigint, seq bigint, released_at bigint, wake_at bigint, known int,
  snapshot_seq bigint, snapshot text, segment_base bigint, segment_hash text, segment text, lines text, finished text)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE mine bigint; clock bigint; gone bigint[]; least_known int;
BEGIN
  SELECT i.id INTO mine FROM ${s}.instance i WHERE i.name = by AND NOT i.has_left FOR SHARE;
  IF NOT FOUND THEN RETURN; END IF;
  SELECT array_agg(x.id) INTO gone FROM (
    SELECT i.id FROM ${s}.instance i WHERE i.id <> mine AND (i.has_left OR i.until IS NULL OR i.until <= ${s}.clock(told))
    ORDER BY i.id FOR SHARE SKIP LOCKED) x;
  clock := ${s}.clock(told);
  SELECT min(i.protocol) INTO least_known FROM ${s}.instance i WHERE NOT i.has_left AND i.until > clock;
  RETURN QUERY
  WITH due AS (
    SELECT d.id FROM unnest(0::bigint || coalesce(gone, '{}')) AS o(id), LATERAL (
      SELECT x.id, x.wake_at FROM ${s}.scope x WHERE x.owner = o.id AND x.wake_at <= until AND x.protocol <= knows
      ORDER BY x.wake_at LIMIT most FOR UPDATE SKIP LOCKED) d
    ORDER BY d.wake_at LIMIT most),
  taken AS (
    UPDATE ${s}.scope x SET epoch = x.epoch + 1, token = gen_random_uuid()::text, owner = mine FROM due d WHERE x.id = d.id
    RETURNING x.name, x.token, x.id, x.epoch, x.seq, x.released_at, x.wake_at)
  SELECT t.name, t.token, t.id, t.epoch, t.seq, t.released_at, t.wake_at, least_known,
    n.seq, n.body, g.base, g.hash, g.body, l.lines, NULL::text
  FROM taken t LEFT JOIN ${s}.snapshot n ON n.scope = t.id LEFT JOIN ${s}.segment g ON g.scope = t.id,
  LATERAL (
    SELECT CASE WHEN count(*) <= ${mostLines} THEN coalesce(string_agg(y.lines, '' ORDER BY y.last), '') END AS lines FROM (
      SELECT x.lines, x.last FROM ${s}.append x
      WHERE x.scope = t.id AND x.last > coalesce(n.seq, g.base, 0) ORDER BY x.last LIMIT ${mostLines + 1}) y) l;
END $$;
`;

const snapshotOf = (row: Row): { readonly snapshot?: Snapshot } => {
  const seq = optional(integer, row, "snapshot_seq");
  return seq === undefined ? {} : { snapshot: { seq, text: text(row, "snapshot") } };
};

/** Returns what came along with a claim; nothing where it was too much for one answer. */
export const broughtOf = (row: Row): { readonly brought?: Brought } => {
  const lines = optional(text, row, "lines");
  if (lines === undefined) return {};
  const base = optional(integer, row, "segment_base");
  const first = (optional(integer, row, "snapshot_seq") ?? base ?? 0) + 1;
  const texts = lines.split("\n").slice(0, -1);
  const segment =
    base === undefined ? {} : { segment: { base, hash: text(row, "segment_hash"), snapshot: text(row, "segment") } };
  return { brought: { ...segment, lines: texts.map((line, i) => ({ seq: first + i, line: `${line}\n` })) } };
};

export const holdingOf = (row: Row): Holding => ({
  epoch: integer(row, "epoch"),
  seq: integer(row, "seq"),
  ...snapshotOf(row),
});

export const lastOwnerOf = (row: Row): { readonly lastOwner?: LastOwner } => {
  const seq = integer(row, "seq");
  if (seq === 0) return {};
  return { lastOwner: optional(integer, row, "released_at") === seq ? "released" : "lost" };
};

/** Reads the row of a scope that was claimed. */
export const claimedOf = (row: Row, protocol: number): Extract<Claim, { readonly type: "claimed" }> => {
  const known = optional(integer, row, "known") ?? protocol;
  return { type: "claimed", ...(known < protocol && { known }), ...lastOwnerOf(row), ...holdingOf(row) };
};

export const dueClaims = (database: Database, scopes: Scopes, schema: string, now: Now) => {
  const statement = named("claim_due", `SELECT * FROM ${schema}.claim_due($1, $2, $3, $4, $5)`);
  return async (instance: string, protocol: number, until: number, limit: number): Promise<readonly ClaimedDue[]> => {
    await scopes.tell();
    const asked = [stored(instance), protocol, Math.floor(until), limit, now()];
    return (await database.query(statement, asked)).map((row) => {
      const scope = nameIn(row, "name");
      scopes.keep(scope, row, text(row, "token"));
      return { scope, claim: { ...claimedOf(row, protocol), ...broughtOf(row) } };
    });
  };
};

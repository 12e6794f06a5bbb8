/** Large values and attachments in the database, in parts, so that every host reads them. */
import type { AttachmentStore } from "@pawl/runtime";
import type { BlobStore } from "@pawl/runtime/driver";
import { type Database, type Now, type Row, bytes, integer, text, named } from "./database.ts";

/** The bytes of one part: a row that a server moves without trouble. */
const partBytes = 1 << 20;

const partsOf = (whole: Uint8Array): readonly Uint8Array[] => {
  const parts: Uint8Array[] = [];
  for (let at = 0; at < whole.length || at === 0; at += partBytes) parts.push(whole.subarray(at, at + partBytes));
  return parts;
};

const joined = (rows: readonly Row[]): Uint8Array | undefined => {
  if (rows.length === 0) return undefined;
  const parts = rows.map((row) => bytes(row, "bytes"));
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
};

const blobStatements = (s: string) => ({
  part: named("blob_part", `INSERT INTO ${s}.blob_part (name, part, bytes) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`),
  put: named(
    "blob_put",
    `INSERT INTO ${s}.blob (name, at) VALUES ($1, ${s}.clock($2)) ON CONFLICT (name) DO UPDATE SET at = excluded.at`,
  ),
  touch: named("blob_touch", `UPDATE ${s}.blob SET at = ${s}.clock($2) WHERE name = $1 RETURNING name`),
  read: named(
    "blob_read",
    `SELECT p.bytes FROM ${s}.blob b JOIN ${s}.blob_part p ON p.name = b.name WHERE b.name = $1 ORDER BY p.part`,
  ),
  old: named("blob_old", `SELECT name FROM ${s}.blob WHERE at <= ${s}.clock($2) - $1::bigint`),
  remove: named(
    "blob_remove",
    `WITH gone AS (DELETE FROM ${s}.blob WHERE name = $1 AND at <= ${s}.clock($3) - $2::bigint RETURNING name),
       parts AS (DELETE FROM ${s}.blob_part WHERE name IN (SELECT name FROM gone))
     SELECT name FROM gone`,
  ),
  turn: named(
    "blob_turn",
    `INSERT INTO ${s}.sweep AS w (id, at) VALUES (1, ${s}.clock($2))
     ON CONFLICT (id) DO UPDATE SET at = excluded.at WHERE w.at <= ${s}.clock($2) - $1::bigint RETURNING (xmax = 0) AS is_first`,
  ),
});

/** Stores blobs. The row of a name is written after its parts, so that it exists whole or not at all. */
export const blobs = (database: Database, schema: string, now: Now): BlobStore => {
  const sql = blobStatements(schema);
  return {
    put: async (_scope, name, whole) => {
      const [there] = await database.query(sql.touch, [name, now()]);
      if (there !== undefined) return;
      for (const [i, part] of partsOf(whole).entries()) await database.query(sql.part, [name, i, part]);
      await database.query(sql.put, [name, now()]);
    },
    read: async (_scope, name) => joined(await database.query(sql.read, [name])),
    old: async (ms) => (await database.query(sql.old, [ms, now()])).map((row) => text(row, "name")),
    remove: async (name, ms) => (await database.query(sql.remove, [name, ms, now()])).length === 1,
    turn: async (everyMs) => {
      const [row] = await database.query(sql.turn, [everyMs, now()]);
      return row?.["is_first"] === false;
    },
  };
};

/** Stores attachments, which all hosts read and nothing removes. */
export const attachments = (database: Database, schema: string): AttachmentStore => {
  const s = schema;
  const count = named("attachment_count", `SELECT count(*) AS parts FROM ${s}.attachment WHERE id = $1`);
  const put = named(
    "attachment_put",
    `INSERT INTO ${s}.attachment (id, part, bytes) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`,
  );
  const read = named("attachment_read", `SELECT bytes FROM ${s}.attachment WHERE id = $1 ORDER BY part`);
  return {
    isShared: true,
    put: async (id, whole) => {
      const parts = partsOf(whole);
      const [row] = await database.query(count, [id]);
      if (integer(row, "parts") === parts.length) return;
      // The first part comes last: without it there is no attachment.
      for (let i = parts.length - 1; i >= 0; i--) await database.query(put, [id, i, parts[i] as Uint8Array]);
    },
    bytes: async (id) => {
      const rows = await database.query(read, [id]);
      return rows.length === 0 ? undefined : joined(rows);
    },
  };
};

/** Scopes that come from other stores, and how each move ended here. */
import type { IndexEntry, MoveEnd, MoveStore } from "@pawl/runtime/driver";
import { type Database, type Row, integer, nameIn, optional, stored, text, named } from "./database.ts";
import { failure } from "./error.ts";
import type { Scopes } from "./scopes.ts";

const statements = (s: string) => ({
  adopt: named("adopt", `SELECT * FROM ${s}.adopt($1, $2::json, $3)`),
  decline: named(
    "decline",
    `INSERT INTO ${s}.move_end (name, nonce, epoch) VALUES ($1, $2, NULL)
     ON CONFLICT (name, nonce) DO UPDATE SET nonce = excluded.nonce RETURNING epoch`,
  ),
  ended: named("ended", `SELECT epoch FROM ${s}.move_end WHERE name = $1 AND nonce = $2`),
  secrets: named("secrets", `SELECT kid, secret FROM ${s}.secret WHERE name = $1 ORDER BY kid, secret`),
  index: named(
    "index",
    `SELECT DISTINCT ON (kind, id) kind, id, seq FROM (
       SELECT kind, id, seq FROM ${s}.finished WHERE scope = (SELECT id FROM ${s}.scope WHERE name = $1)
       UNION ALL
       SELECT f->>0, f->>1, (f->>2)::bigint FROM ${s}.append a, json_array_elements(a.finished::json) f
         WHERE a.scope = (SELECT id FROM ${s}.scope WHERE name = $1) AND a.finished IS NOT NULL
           AND a.last > coalesce((SELECT seq FROM ${s}.sorted WHERE scope = (SELECT id FROM ${s}.scope WHERE name = $1)), 0)) x
     ORDER BY kind, id, seq DESC`,
  ),
});

const endOf = (row: Row): MoveEnd => {
  const epoch = optional(integer, row, "epoch");
  return epoch === undefined ? { type: "never" } : { type: "received", epoch };
};

export const moves = (database: Database, scopes: Scopes, schema: string): MoveStore => {
  const sql = statements(schema);
  return {
    adopt: async (adoption) => {
      const { scope, epoch, nonce, appendId, lines, segment, wakeAt, approvals, protocol, kept, secrets } = adoption;
      const last = (segment?.base ?? 0) + lines.length;
      const finished = adoption.finished.map(({ kind, id, seq }) => ({ kind, id: stored(id), seq }));
      const letters = adoption.letters.map(({ from, ...letter }) => ({ ...letter, from: stored(from) }));
      const whole = { segment, wakeAt, approvals, protocol, kept, secrets, finished, letters };
      const told = { ...whole, epoch, nonce: stored(nonce), id: appendId, mark: scopes.at(scope, epoch)?.token, last };
      const all = lines.map(({ line }) => line).join("");
      try {
        const [row] = await database.query(sql.adopt, [stored(scope), JSON.stringify(told), all]);
        const verdict = text(row, "verdict");
        if (verdict === "never") return { type: "never" };
        if (verdict === "fenced") return { type: "fenced", epoch: integer(row, "at") };
        const claimed = scopes.at(scope, epoch);
        if (claimed !== undefined) scopes.appended(claimed, adoption, last, wakeAt);
        return { type: "ok" };
      } catch (thrown) {
        return failure(thrown);
      }
    },
    decline: async (scope, nonce) => {
      const [row] = await database.query(sql.decline, [stored(scope), stored(nonce)]);
      return endOf(row ?? {});
    },
    ended: async (scope, nonce) => {
      const [row] = await database.query(sql.ended, [stored(scope), stored(nonce)]);
      return row === undefined ? undefined : endOf(row);
    },
    secrets: async (scope) =>
      (await database.query(sql.secrets, [stored(scope)])).map((row) => ({
        kid: text(row, "kid"),
        secret: text(row, "secret"),
      })),
    index: async (scope) => {
      const rows = await database.query(sql.index, [stored(scope)]);
      return rows.map((row) => ({
        kind: text(row, "kind") as IndexEntry["kind"],
        id: nameIn(row, "id"),
        seq: integer(row, "seq"),
      }));
    },
  };
};

/**
 * Ownership of scopes: claims, and the leases of instances by the database's clock.
 *
 * A scope's owner is a numbered life of an instance. An instance that leaves ends its life with one row, whatever it owned.
 */
import { randomUUID } from "node:crypto";
import type { Journal } from "@pawl/runtime";
import type { Claim } from "@pawl/runtime/driver";
import { broughtOf, claimedOf, holdingOf } from "./claim-due.ts";
import { type Database, type Now, type Row, integer, nameIn, optional, stored, text, named } from "./database.ts";
import { PostgresError } from "./error.ts";
import type { Scopes } from "./scopes.ts";
import type { Wakes } from "./wake.ts";

type Ownership = Pick<Journal, "open" | "join" | "renew" | "leave" | "lost" | "claim" | "load" | "release">;

/** The time after which a lost instance is forgotten. */
const rememberedMs = 7 * 24 * 60 * 60 * 1000;

const statements = (s: string) => ({
  join: named(
    "join",
    `INSERT INTO ${s}.instance (name, until, ttl, address, protocol) VALUES ($1, ${s}.clock($5) + $2::bigint, $2, $3, $4)
     ON CONFLICT (name) WHERE NOT has_left
     DO UPDATE SET until = excluded.until, ttl = excluded.ttl, address = excluded.address, protocol = excluded.protocol
     RETURNING id`,
  ),
  renew: named(
    "renew",
    `UPDATE ${s}.instance SET until = ${s}.clock($2) + ttl WHERE name = $1 AND NOT has_left AND until > ${s}.clock($2) RETURNING id`,
  ),
  leave: named("leave", `UPDATE ${s}.instance SET has_left = true WHERE name = $1 AND NOT has_left`),
  lost: named("lost", `SELECT name FROM ${s}.instance WHERE NOT has_left AND until <= ${s}.clock($1) ORDER BY name`),
  forget: named(
    "forget",
    `WITH old AS (
       SELECT id FROM ${s}.instance WHERE (until IS NULL OR until <= ${s}.clock($1) - $2::bigint) AND (has_left OR until IS NOT NULL)
       ORDER BY id LIMIT 16 FOR UPDATE SKIP LOCKED),
     freed AS (
       UPDATE ${s}.scope SET owner = 0 WHERE id IN (
         SELECT x.id FROM old, LATERAL (SELECT id FROM ${s}.scope WHERE owner = old.id ORDER BY id LIMIT 500 FOR UPDATE SKIP LOCKED) x)
       RETURNING id)
     DELETE FROM ${s}.instance i USING old WHERE i.id = old.id AND (SELECT count(*) FROM freed) = 0`,
  ),
  claim: named("claim", `SELECT * FROM ${s}.claim($1, $2, $3, $4, $5, $6)`),
  load: named("load", `SELECT * FROM ${s}.load($1, $2)`),
  release: named(
    "release",
    `UPDATE ${s}.scope x SET owner = 0, released_at = x.seq,
       wake_at = CASE WHEN x.token = $3 AND x.seq = $4::bigint THEN $5::bigint ELSE x.wake_at END
     FROM ${s}.instance i WHERE x.name = $1 AND i.id = x.owner AND i.name = $2 AND NOT i.has_left`,
  ),
});

const claimOf = (row: Row, protocol: number): Claim => {
  const verdict = text(row, "verdict");
  if (verdict === "newer_protocol") return { type: "newer_protocol", protocol: integer(row, "protocol") };
  if (verdict === "owned_by") {
    const address = optional(text, row, "address");
    return { type: "owned_by", instance: nameIn(row, "owner"), ...(address !== undefined && { address }) };
  }
  return claimedOf(row, protocol);
};

interface Parts {
  readonly scopes: Scopes;
  readonly wakes: Wakes;
}

export const ownership = (database: Database, { scopes, wakes }: Parts, schema: string, now: Now): Ownership => {
  const sql = statements(schema);
  const claim = async (...[scope, instance, protocol, above = 0]: Parameters<Journal["claim"]>) => {
    const token = randomUUID();
    const [row] = await database.query(sql.claim, [stored(scope), stored(instance), protocol, above, token, now()]);
    if (row === undefined) throw new PostgresError("not_intact", `a claim of ${scope} was answered by no row`);
    const claimed = claimOf(row, protocol);
    if (claimed.type === "claimed") scopes.keep(scope, row, token);
    return { claim: claimed, row };
  };
  const load = async (...[scope, instance]: Parameters<Journal["load"]>) => {
    const [row] = await database.query(sql.load, [stored(scope), stored(instance)]);
    if (row === undefined) return undefined;
    if (scopes.at(scope, integer(row, "epoch")) === undefined) scopes.keep(scope, row, text(row, "token"));
    return { holding: holdingOf(row), row };
  };
  return {
    join: async (instance, { ttlMs, address, protocol = 1 }) => {
      await database.lease(sql.forget, [now(), rememberedMs]);
      const [row] = await database.lease(sql.join, [stored(instance), ttlMs, address ?? null, protocol, now()]);
      wakes.joined(instance, integer(row, "id"));
    },
    renew: async (instance) => (await database.lease(sql.renew, [stored(instance), now()])).length === 1,
    leave: async (instance) => {
      await database.lease(sql.leave, [stored(instance)]);
      await wakes.letGo();
    },
    lost: async () => (await database.query(sql.lost, [now()])).map((row) => nameIn(row, "name")),
    claim: async (...of) => (await claim(...of)).claim,
    load: async (...of) => (await load(...of))?.holding,
    open: {
      claim: async (...of) => {
        const { claim: claimed, row } = await claim(...of);
        return claimed.type === "claimed" ? { ...claimed, ...broughtOf(row) } : claimed;
      },
      load: async (...of) => {
        const loaded = await load(...of);
        return loaded && { ...loaded.holding, ...broughtOf(loaded.row) };
      },
    },
    release: async (scope, instance) => {
      const claimed = scopes.claimOf(scope);
      const { token = "", seq = 0, wantedWake } = claimed ?? {};
      await database.query(sql.release, [stored(scope), stored(instance), token, seq, wantedWake ?? null]);
      scopes.forget(scope);
      if (wantedWake !== undefined) wakes.released(wantedWake);
    },
  };
};

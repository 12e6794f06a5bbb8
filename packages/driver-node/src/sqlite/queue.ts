/**
 * Queues in a journal file: places and lines in tables of their own, which the first use makes. An older driver leaves
 * them alone. Nothing here syncs: a power cut ends the processes that had the places.
 */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { type Advanced, type PlaceId, type Standing, type WantedPlace, windowOf } from "@pawl/runtime/driver";
import type { Connection } from "./connection.ts";
import { expireDeadLeases } from "./ownership.ts";
import { integer, optional, text } from "./sql.ts";

/** `owner` is 0 where a place was left and a rate still counts it; `round` is the one in which it was granted. */
const tables = `
  CREATE TABLE IF NOT EXISTS queue (name TEXT PRIMARY KEY, turn INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS place (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    queue TEXT NOT NULL,
    scope TEXT NOT NULL,
    call TEXT NOT NULL,
    owner INTEGER NOT NULL,
    priority INTEGER NOT NULL,
    turn INTEGER NOT NULL,
    since INTEGER NOT NULL,
    most INTEGER,
    rate INTEGER,
    rate_ms INTEGER,
    round INTEGER,
    counted_until INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  CREATE UNIQUE INDEX IF NOT EXISTS place_call ON place (scope, call) WHERE owner <> 0;
  CREATE INDEX IF NOT EXISTS place_line ON place (queue, priority DESC, turn, since, id) WHERE round IS NULL;
  CREATE INDEX IF NOT EXISTS place_begun ON place (queue) WHERE round IS NOT NULL;
  CREATE INDEX IF NOT EXISTS place_turn ON place (queue, scope, turn);
  CREATE INDEX IF NOT EXISTS place_owner ON place (owner, counted_until);
`;

const isLive = "(until IS NULL OR until > :now)";
const dead = `owner <> 0 AND owner NOT IN (SELECT id FROM instance WHERE ${isLive})`;

const prepare = (db: DatabaseSync) => {
  const statement = (sql: string): StatementSync => db.prepare(sql);
  return {
    instance: statement(`SELECT id FROM instance WHERE name = :name AND ${isLive}`),
    spendDead: statement(`UPDATE place SET owner = 0 WHERE ${dead} AND counted_until > :now`),
    dropDead: statement(`DELETE FROM place WHERE ${dead}`),
    dropSpent: statement("DELETE FROM place WHERE owner = 0 AND counted_until <= :now"),
    spendOwn: statement("UPDATE place SET owner = 0 WHERE owner = :owner AND counted_until > :now"),
    dropOwn: statement("DELETE FROM place WHERE owner = :owner"),
    dropQueue: statement(
      "DELETE FROM queue WHERE name = :queue AND NOT EXISTS (SELECT 1 FROM place WHERE queue = :queue)",
    ),
    isOwner: statement("SELECT 1 FROM scope WHERE name = :scope AND owner = :owner"),
    place: statement(
      "SELECT id, owner, queue, counted_until FROM place WHERE scope = :scope AND call = :call AND owner <> 0",
    ),
    drop: statement("DELETE FROM place WHERE id = :id"),
    spend: statement("UPDATE place SET owner = 0, round = coalesce(round, 0) WHERE id = :id"),
    turn: statement(`SELECT max(
      coalesce((SELECT turn FROM queue WHERE name = :queue), 0),
      coalesce((SELECT max(turn) FROM place WHERE queue = :queue AND scope = :scope), 0)) AS turn`),
    enter: statement(`INSERT INTO place (queue, scope, call, owner, priority, turn, since, most, rate, rate_ms)
      VALUES (:queue, :scope, :call, :owner, :priority, :turn, :since, :most, :rate, :rate_ms)`),
    begun:
      statement(`SELECT count(*) FILTER (WHERE owner <> 0) AS held, count(*) FILTER (WHERE counted_until > :now) AS counted,
      min(counted_until) FILTER (WHERE counted_until > :now) AS until FROM place WHERE queue = :queue AND round IS NOT NULL`),
    line: statement(`SELECT id, owner, turn, most, rate, rate_ms FROM place WHERE queue = :queue AND round IS NULL
      ORDER BY priority DESC, turn, since, id`),
    grant: statement("UPDATE place SET round = :round, counted_until = :until WHERE id = :id"),
    pass: statement(`INSERT INTO queue (name, turn) VALUES (:queue, :turn)
      ON CONFLICT (name) DO UPDATE SET turn = max(turn, excluded.turn)`),
    granted: statement("SELECT scope, call, queue FROM place WHERE owner = :owner AND round = :round ORDER BY id"),
    standing:
      statement(`SELECT p.call, p.queue, p.round, (SELECT count(*) FROM place o WHERE o.queue = p.queue AND o.round IS NULL
        AND (-o.priority, o.turn, o.since, o.id) < (-p.priority, p.turn, p.since, p.id)) AS before
      FROM place p JOIN instance i ON i.id = p.owner WHERE p.scope = :scope AND ${isLive} ORDER BY p.call`),
  };
};

export class FileQueues {
  readonly #connection: Connection;
  #sql: ReturnType<typeof prepare> | undefined;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Runs a transaction over the tables, which it makes where they are missing. */
  #transact<A>(work: (sql: ReturnType<typeof prepare>, now: number) => A): A {
    return this.#connection.unsynced(() => {
      this.#sql ??= this.#connection.extended(tables, prepare);
      return work(this.#sql, this.#connection.now());
    });
  }

  advance(instance: string, round: number, queues: readonly string[], wanted: readonly WantedPlace[]): Advanced {
    return this.#transact((sql, now) => {
      expireDeadLeases(this.#connection);
      sql.spendDead.run({ now });
      sql.dropDead.run({ now });
      sql.dropSpent.run({ now });
      const found = sql.instance.get({ name: instance, now });
      if (found === undefined) return { granted: [] };
      const owner = integer(found, "id");
      if (round === 0) {
        sql.spendOwn.run({ owner, now });
        sql.dropOwn.run({ owner });
      }
      for (const one of wanted) this.#enter(sql, owner, one);
      const names = new Set([...queues, ...wanted.map(({ queue }) => queue)]);
      const untils = [...names].flatMap((queue) => this.#grant(sql, now, { queue, owner, round }) ?? []);
      const granted = sql.granted
        .all({ owner, round })
        .filter((row) => names.has(text(row, "queue")))
        .map((row) => ({ scope: text(row, "scope"), call: text(row, "call") }));
      return untils.length === 0 ? { granted } : { granted, againMs: Math.min(...untils) - now };
    });
  }

  #enter(sql: ReturnType<typeof prepare>, owner: number, wanted: WantedPlace): void {
    const { scope, call, queue, priority, since, concurrency = null, perSecond } = wanted;
    if (sql.isOwner.get({ scope, owner }) === undefined) return;
    const there = sql.place.get({ scope, call });
    if (there !== undefined && integer(there, "owner") === owner) return;
    if (there !== undefined) sql.drop.run({ id: integer(there, "id") });
    const turn = integer(sql.turn.get({ queue, scope }) ?? {}, "turn") + 1;
    const rate = perSecond === undefined ? undefined : windowOf(perSecond);
    const limit = { most: concurrency, rate: rate?.most ?? null, rate_ms: rate?.ms ?? null };
    sql.enter.run({ queue, scope, call, owner, priority, turn, since, ...limit });
  }

  /** Takes the free places of a queue that are an instance's turn. Returns when a rate lets more begin. */
  #grant(
    sql: ReturnType<typeof prepare>,
    now: number,
    { queue, owner, round }: { readonly queue: string; readonly owner: number; readonly round: number },
  ): number | undefined {
    const begun = sql.begun.get({ queue, now }) ?? {};
    let [held, counted] = [integer(begun, "held"), integer(begun, "counted")];
    const granted: { readonly id: number; readonly turn: number; readonly until: number }[] = [];
    let until: number | undefined;
    for (const row of sql.line.iterate({ queue })) {
      const [most, rate] = [optional(integer, row, "most"), optional(integer, row, "rate")];
      if (most !== undefined && held >= most) break;
      const rateMs = optional(integer, row, "rate_ms") ?? 0;
      if (rate !== undefined && counted >= rate) {
        until = Math.min(optional(integer, begun, "until") ?? Infinity, now + rateMs);
        break;
      }
      held += 1;
      counted += rate === undefined ? 0 : 1;
      if (integer(row, "owner") === owner)
        granted.push({ id: integer(row, "id"), turn: integer(row, "turn"), until: now + rateMs });
    }
    for (const place of granted) {
      sql.grant.run({ id: place.id, round, until: place.until });
      sql.pass.run({ queue, turn: place.turn });
    }
    return until;
  }

  leave(instance: string, places: readonly PlaceId[]): void {
    this.#transact((sql, now) => {
      const owner = sql.instance.get({ name: instance, now });
      if (owner === undefined) return;
      for (const { scope, call } of places) {
        const row = sql.place.get({ scope, call });
        if (row === undefined || integer(row, "owner") !== integer(owner, "id")) continue;
        const id = integer(row, "id");
        if (integer(row, "counted_until") > now) sql.spend.run({ id });
        else sql.drop.run({ id });
        sql.dropQueue.run({ queue: text(row, "queue") });
      }
    });
  }

  standing(scope: string): readonly Standing[] {
    if (this.#sql === undefined && !this.#connection.hasTable("place")) return [];
    return this.#transact((sql, now) =>
      sql.standing.all({ scope, now }).map((row) => {
        const before = optional(integer, row, "round") === undefined ? { before: integer(row, "before") } : {};
        return { scope, call: text(row, "call"), queue: text(row, "queue"), ...before };
      }),
    );
  }
}

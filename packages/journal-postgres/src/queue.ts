/**
 * Queues: lines of calls over all hosts of the database, and the places that they have.
 *
 * The row of a queue is locked while its line moves, so that places are granted one after the other; appends and claims never
 * wait for it. A host that gives a place back tells the hosts whose calls are next.
 */
import type { QueueStore, Standing } from "@pawl/runtime/driver";
import { windowOf } from "@pawl/runtime/driver";
import { type Database, type Now, type Row, integer, named, nameIn, optional, stored } from "./database.ts";
import type { Wakes } from "./wake.ts";

/** The tables. `owner` is 0 where a place was left and a rate still counts it; `round` is the one in which it was granted. */
export const queueTables = (s: string): string => `
CREATE TABLE ${s}.queue (name text COLLATE "C" PRIMARY KEY, turn bigint NOT NULL DEFAULT 0) WITH (fillfactor = 50);
CREATE TABLE ${s}.place (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  queue text COLLATE "C" NOT NULL, scope text COLLATE "C" NOT NULL, call text COLLATE "C" NOT NULL,
  owner bigint NOT NULL, priority bigint NOT NULL, turn bigint NOT NULL, since bigint NOT NULL,
  most bigint, rate bigint, rate_ms bigint, round bigint, counted_until bigint NOT NULL DEFAULT 0
) WITH (autovacuum_vacuum_scale_factor = 0.02);
CREATE UNIQUE INDEX place_call ON ${s}.place (scope, call) WHERE owner <> 0;
CREATE INDEX place_line ON ${s}.place (queue, priority DESC, turn, since, id) WHERE round IS NULL;
CREATE INDEX place_begun ON ${s}.place (queue) WHERE round IS NOT NULL;
CREATE INDEX place_turn ON ${s}.place (queue, scope, turn);
CREATE INDEX place_owner ON ${s}.place (owner, counted_until);
`;

const isLive = (clock: string): string => `NOT i.has_left AND (i.until IS NULL OR i.until > ${clock})`;

/** Drops the places of instances that are gone. What a rate still counts stays, as nobody's. */
const tidy = (s: string): string => `
CREATE OR REPLACE FUNCTION ${s}.queue_tidy(clock bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  WITH RECURSIVE owners AS (
    (SELECT p.owner FROM ${s}.place p WHERE p.owner > 0 ORDER BY p.owner LIMIT 1)
    UNION ALL SELECT (SELECT p.owner FROM ${s}.place p WHERE p.owner > o.owner ORDER BY p.owner LIMIT 1) FROM owners o WHERE o.owner IS NOT NULL),
  gone AS (
    SELECT p.id, p.counted_until FROM owners o JOIN ${s}.place p ON p.owner = o.owner
    WHERE NOT EXISTS (SELECT 1 FROM ${s}.instance i WHERE i.id = o.owner AND ${isLive("clock")})
    ORDER BY p.id FOR UPDATE OF p SKIP LOCKED),
  spent AS (UPDATE ${s}.place p SET owner = 0, round = coalesce(p.round, 0) FROM gone g WHERE p.id = g.id AND g.counted_until > clock)
  DELETE FROM ${s}.place p USING gone g WHERE p.id = g.id AND g.counted_until <= clock;
  DELETE FROM ${s}.place p WHERE p.id IN (
    SELECT x.id FROM ${s}.place x WHERE x.owner = 0 AND x.counted_until <= clock ORDER BY x.id LIMIT 1000 FOR UPDATE SKIP LOCKED);
END $$;
`;

/** Puts calls in line, queue by queue in the order of their names, and grants the free places that are the caller's turn. */
const advance = (s: string): string => `
CREATE OR REPLACE FUNCTION ${s}.queue_advance(by text, in_round bigint, queues json, wanted json, told bigint)
RETURNS TABLE (scope text, call text, again bigint) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  clock bigint := ${s}.clock(told); mine bigint; names text[]; w record; r record; q record; there record;
  held bigint; counted bigint; free_at bigint; next_at bigint;
BEGIN
  SELECT i.id INTO mine FROM ${s}.instance i WHERE i.name = by AND ${isLive("clock")};
  IF NOT FOUND THEN RETURN; END IF;
  IF in_round = 0 THEN
    UPDATE ${s}.place p SET owner = 0, round = coalesce(p.round, 0) WHERE p.owner = mine AND p.counted_until > clock;
    DELETE FROM ${s}.place p WHERE p.owner = mine;
  END IF;
  PERFORM ${s}.queue_tidy(clock);
  SELECT array_agg(DISTINCT x.name COLLATE "C" ORDER BY x.name COLLATE "C") INTO names FROM (
    SELECT value AS name FROM json_array_elements_text(queues)
    UNION ALL SELECT e->>'q' FROM json_array_elements(wanted) e) x;
  FOR i IN 1 .. coalesce(array_length(names, 1), 0) LOOP
    LOOP
      INSERT INTO ${s}.queue (name) VALUES (names[i]) ON CONFLICT DO NOTHING;
      SELECT x.* INTO q FROM ${s}.queue x WHERE x.name = names[i] FOR UPDATE;
      EXIT WHEN FOUND;
    END LOOP;
    FOR w IN SELECT * FROM json_to_recordset(wanted) AS e(n int, q text, s text, c text, p bigint, t bigint, m bigint, r bigint, d bigint)
      WHERE e.q = names[i] ORDER BY e.n
    LOOP
      CONTINUE WHEN NOT EXISTS (SELECT 1 FROM ${s}.scope x WHERE x.name = w.s AND x.owner = mine);
      SELECT p.id, p.owner INTO there FROM ${s}.place p WHERE p.scope = w.s AND p.call = w.c AND p.owner <> 0;
      CONTINUE WHEN FOUND AND there.owner = mine;
      IF FOUND THEN DELETE FROM ${s}.place p WHERE p.id = there.id; END IF;
      INSERT INTO ${s}.place (queue, scope, call, owner, priority, turn, since, most, rate, rate_ms)
        SELECT names[i], w.s, w.c, mine, w.p,
          greatest(q.turn, coalesce((SELECT max(p.turn) FROM ${s}.place p WHERE p.queue = names[i] AND p.scope = w.s), 0)) + 1,
          w.t, w.m, w.r, w.d;
    END LOOP;
    SELECT count(*) FILTER (WHERE p.owner <> 0), count(*) FILTER (WHERE p.counted_until > clock),
      min(p.counted_until) FILTER (WHERE p.counted_until > clock) INTO held, counted, free_at
      FROM ${s}.place p WHERE p.queue = names[i] AND p.round IS NOT NULL;
    FOR r IN SELECT p.* FROM ${s}.place p WHERE p.queue = names[i] AND p.round IS NULL ORDER BY p.priority DESC, p.turn, p.since, p.id
    LOOP
      EXIT WHEN held >= r.most;
      IF counted >= r.rate THEN
        next_at := least(next_at, free_at, clock + r.rate_ms);
        EXIT;
      END IF;
      held := held + 1;
      IF r.rate IS NOT NULL THEN counted := counted + 1; END IF;
      CONTINUE WHEN r.owner <> mine;
      UPDATE ${s}.place p SET round = in_round, counted_until = clock + coalesce(r.rate_ms, 0) WHERE p.id = r.id;
      UPDATE ${s}.queue x SET turn = greatest(x.turn, r.turn) WHERE x.name = names[i];
    END LOOP;
  END LOOP;
  RETURN QUERY SELECT p.scope, p.call, NULL::bigint FROM ${s}.place p
    WHERE p.owner = mine AND p.round = in_round AND p.queue = ANY (names) ORDER BY p.id;
  IF next_at IS NOT NULL THEN scope := NULL; call := NULL; again := greatest(0, next_at - clock); RETURN NEXT; END IF;
END $$;
`;

/** Gives places back, and lists the other instances whose calls are next in their lines. */
const leave = (s: string): string => `
CREATE OR REPLACE FUNCTION ${s}.queue_leave(by text, places json, told bigint) RETURNS TABLE (next bigint) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE clock bigint := ${s}.clock(told); mine bigint; names text[];
BEGIN
  SELECT i.id INTO mine FROM ${s}.instance i WHERE i.name = by AND ${isLive("clock")};
  IF NOT FOUND THEN RETURN; END IF;
  WITH own AS (
    SELECT p.id, p.queue, p.counted_until FROM json_to_recordset(places) AS e(s text, c text)
    JOIN ${s}.place p ON p.scope = e.s AND p.call = e.c AND p.owner = mine),
  spent AS (UPDATE ${s}.place p SET owner = 0, round = coalesce(p.round, 0) FROM own o WHERE p.id = o.id AND o.counted_until > clock),
  gone AS (DELETE FROM ${s}.place p USING own o WHERE p.id = o.id AND o.counted_until <= clock)
  SELECT array_agg(DISTINCT o.queue) INTO names FROM own o;
  DELETE FROM ${s}.queue x WHERE x.name IN (
    SELECT y.name FROM ${s}.queue y WHERE y.name = ANY (names) AND NOT EXISTS (SELECT 1 FROM ${s}.place p WHERE p.queue = y.name)
    ORDER BY y.name FOR UPDATE SKIP LOCKED);
  RETURN QUERY SELECT DISTINCT f.owner FROM unnest(names) AS n(name), LATERAL (
    SELECT p.owner FROM ${s}.place p WHERE p.queue = n.name AND p.round IS NULL
    ORDER BY p.priority DESC, p.turn, p.since, p.id LIMIT 4) f WHERE f.owner <> mine;
END $$;
`;

export const queueFunctions = (s: string): string => tidy(s) + advance(s) + leave(s);

const statements = (s: string) => ({
  advance: named("queue_advance", `SELECT * FROM ${s}.queue_advance($1, $2, $3::json, $4::json, $5)`),
  leave: named("queue_leave", `SELECT * FROM ${s}.queue_leave($1, $2::json, $3)`),
  standing: named(
    "queue_standing",
    `SELECT p.call, p.queue, CASE WHEN p.round IS NULL THEN (
       SELECT count(*) FROM ${s}.place o WHERE o.queue = p.queue AND o.round IS NULL
         AND (-o.priority, o.turn, o.since, o.id) < (-p.priority, p.turn, p.since, p.id)) END AS before
     FROM ${s}.place p JOIN ${s}.instance i ON i.id = p.owner
     WHERE p.scope = $1 AND ${isLive(`${s}.clock($2)`)} ORDER BY p.call`,
  ),
});

const standingOf = (scope: string, row: Row): Standing => {
  const before = optional(integer, row, "before");
  const place = { scope, call: nameIn(row, "call"), queue: nameIn(row, "queue") };
  return before === undefined ? place : { ...place, before };
};

export const queues = (database: Database, wakes: Wakes, schema: string, now: Now): QueueStore => {
  const sql = statements(schema);
  return {
    advance: async (instance, round, names, wanted) => {
      const told = wanted.map(({ queue, scope, call, priority, since, concurrency, perSecond }, n) => {
        const rate = perSecond === undefined ? undefined : windowOf(perSecond);
        const limit = { m: concurrency, r: rate?.most, d: rate?.ms };
        return { n, q: stored(queue), s: stored(scope), c: stored(call), p: priority, t: since, ...limit };
      });
      const lines = [JSON.stringify(names.map(stored)), JSON.stringify(told)];
      const rows = await database.query(sql.advance, [stored(instance), round, ...lines, now()]);
      const granted = rows.filter((row) => row["scope"] !== null);
      const againMs = optional(
        integer,
        rows.find((row) => row["scope"] === null),
        "again",
      );
      const ids = granted.map((row) => ({ scope: nameIn(row, "scope"), call: nameIn(row, "call") }));
      return againMs === undefined ? { granted: ids } : { granted: ids, againMs };
    },
    leave: async (instance, places) => {
      const told = places.map(({ scope, call }) => ({ s: stored(scope), c: stored(call) }));
      const next = await database.query(sql.leave, [stored(instance), JSON.stringify(told), now()]);
      wakes.placesFree(next.map((row) => integer(row, "next")));
    },
    standing: async (scope) => {
      const rows = await database.query(sql.standing, [stored(scope), now()]);
      return rows.map((row) => standingOf(scope, row));
    },
  };
};

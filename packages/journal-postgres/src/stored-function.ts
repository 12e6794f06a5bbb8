/** Functions in the database: transactions that read before they write, in one round trip each. */

const clock = (s: string): string => `
CREATE OR REPLACE FUNCTION ${s}.clock(told bigint) RETURNS bigint LANGUAGE sql VOLATILE AS $$
  SELECT coalesce(told, (extract(epoch FROM clock_timestamp()) * 1000)::bigint)
$$;
`;

/**
 * Appends of any kind, in one transaction: several of one scope, with messages, sent again. Takes the rows of scopes first,
 * then those of letters, each in the order of their keys, so that groups that meet cannot lock each other out.
 */
const appendAll = (s: string): string => `
CREATE OR REPLACE FUNCTION ${s}.append_all(told json) RETURNS TABLE (place int, verdict text, at bigint) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  a record; row record; taken int[] := '{}'; is_known boolean; is_again boolean := false;
BEGIN
  PERFORM 1 FROM ${s}.scope WHERE id IN (SELECT (e->>'s')::bigint FROM json_array_elements(told) e) ORDER BY id FOR UPDATE;
  FOR a IN
    SELECT * FROM json_to_recordset(told) AS t(i int, s bigint, t text, e bigint, f bigint, l bigint, k text, x text, d text, w bigint, v int, p int)
    ORDER BY i
  LOOP
    place := a.i; verdict := NULL; at := NULL;
    SELECT epoch, seq, token INTO row FROM ${s}.scope WHERE id = a.s;
    IF NOT FOUND OR row.epoch = 0 OR row.epoch <> a.e OR a.t <> row.token THEN
      verdict := 'fenced'; at := coalesce(row.epoch, 0);
    ELSIF a.f <> row.seq + 1 THEN
      SELECT true INTO is_known FROM ${s}.append
        WHERE scope = a.s AND last = a.l AND first = a.f AND append_id = row.token || ':' || a.k;
      IF is_known THEN is_again := true; ELSE verdict := 'conflict'; at := row.seq; END IF;
    ELSE
      taken := taken || a.i;
      IF a.l >= a.f THEN
        INSERT INTO ${s}.append (scope, last, first, append_id, finished, lines)
          VALUES (a.s, a.l, a.f, row.token || ':' || a.k, a.d, a.x);
        UPDATE ${s}.scope SET seq = a.l, protocol = a.p, approvals = coalesce(a.v, approvals),
          wake_at = CASE WHEN a.w < wake_at OR wake_at IS NULL THEN a.w ELSE wake_at END WHERE id = a.s;
      END IF;
    END IF;
    RETURN NEXT;
  END LOOP;

  WITH letters AS (
    SELECT DISTINCT m."to" AS name FROM json_array_elements(told) e, json_to_recordset(e->'o') AS m("to" text)
    WHERE (e->>'i')::int = ANY (taken)
  ) INSERT INTO ${s}.scope (name) SELECT name FROM letters ORDER BY name ON CONFLICT DO NOTHING;

  INSERT INTO ${s}.letter (target, source, kind, link, number, body, id)
    SELECT c.id, m.source, m.k, m.l, m.n, m.b, nextval(pg_get_serial_sequence('${s}.letter', 'id'))
    FROM (
      SELECT DISTINCT ON (q."to", q.source, q.k, q.l, q.n) q.* FROM (
        SELECT e->>'n' AS source, m.*, row_number() OVER (ORDER BY (e->>'i')::int, m.j) AS turn
        FROM json_array_elements(told) e, json_to_recordset(e->'o') AS m(j int, "to" text, k text, l bigint, n bigint, b text)
        WHERE (e->>'i')::int = ANY (taken)
      ) q ORDER BY q."to", q.source, q.k, q.l, q.n, q.turn DESC
    ) m JOIN ${s}.scope c ON c.name = m."to"
    ORDER BY m.turn
    ON CONFLICT (target, source, kind, link, number) DO UPDATE SET body = excluded.body;

  DELETE FROM ${s}.letter d USING (
    SELECT l.target, l.source, l.kind, l.link, l.number
    FROM json_array_elements(told) e, json_to_recordset(e->'r') AS m("from" text, k text, l bigint, n bigint), ${s}.letter l
    WHERE (e->>'i')::int = ANY (taken)
      AND l.target = (e->>'s')::bigint AND l.source = m."from" AND l.kind = m.k AND l.link = m.l AND l.number = m.n
    ORDER BY 1, 2, 3, 4, 5 FOR UPDATE OF l
  ) gone WHERE (d.target, d.source, d.kind, d.link, d.number) = (gone.target, gone.source, gone.kind, gone.link, gone.number);

  -- What was found again may be visible before a standby has it: a record of the log that commits now waits for it.
  IF is_again AND NOT pg_is_in_recovery() THEN PERFORM pg_logical_emit_message(true, 'pawl', ''); END IF;
END $$;
`;

/** Brings along what an owner reads next: the lines after the snapshot or the segment, and the ids of what has finished; not if they are many. */
const brought = (s: string): string => `
CREATE OR REPLACE FUNCTION ${s}.brought(of bigint, OUT snapshot_seq bigint, OUT snapshot text, OUT segment_base bigint,
  OUT segment_hash text, OUT segment text, OUT lines text, OUT finished text) LANGUAGE plpgsql AS $$
#variable_conflict use_variable
BEGIN
  SELECT x.seq, x.body INTO snapshot_seq, snapshot FROM ${s}.snapshot x WHERE x.scope = of;
  SELECT x.base, x.hash, x.body INTO segment_base, segment_hash, segment FROM ${s}.segment x WHERE x.scope = of;
  SELECT CASE WHEN count(*) <= 2000 THEN coalesce(string_agg(y.lines, '' ORDER BY y.last), '') END INTO lines FROM (
    SELECT x.lines, x.last FROM ${s}.append x
    WHERE x.scope = of AND x.last > coalesce(snapshot_seq, segment_base, 0) ORDER BY x.last LIMIT 2001) y;
  SELECT CASE WHEN count(*) <= 5000 THEN coalesce(json_agg(y.name), '[]')::text END INTO finished FROM (
    SELECT x.kind || ' ' || x.id AS name FROM ${s}.finished x WHERE x.scope = of
    UNION ALL
    SELECT (f->>0) || ' ' || (f->>1) FROM ${s}.append x, json_array_elements(x.finished::json) f
      WHERE x.scope = of AND x.finished IS NOT NULL
        AND x.last > coalesce((SELECT d.seq FROM ${s}.sorted d WHERE d.scope = of), 0)
    LIMIT 5001) y;
END $$;

CREATE OR REPLACE FUNCTION ${s}.load(named text, by text)
RETURNS TABLE (id bigint, epoch bigint, seq bigint, wake_at bigint, token text, snapshot_seq bigint, snapshot text,
  segment_base bigint, segment_hash text, segment text, lines text, finished text) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE c record;
BEGIN
  SELECT x.* INTO c FROM ${s}.scope x JOIN ${s}.instance i ON i.id = x.owner WHERE x.name = named AND i.name = by AND NOT i.has_left;
  IF NOT FOUND THEN RETURN; END IF;
  RETURN QUERY SELECT c.id, c.epoch, c.seq, c.wake_at, c.token, b.* FROM ${s}.brought(c.id) b;
END $$;
`;

/** Makes an instance the owner of a scope. The clock is read once the rows are locked. */
const claim = (s: string): string => `
CREATE OR REPLACE FUNCTION ${s}.claim(named text, by text, knows int, above bigint, mark text, told bigint)
RETURNS TABLE (verdict text, id bigint, epoch bigint, seq bigint, protocol int, released_at bigint, wake_at bigint,
  owner text, address text, known int, snapshot_seq bigint, snapshot text, segment_base bigint, segment_hash text, segment text,
  lines text, finished text) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE c record; o record; mine bigint; clock bigint;
BEGIN
  INSERT INTO ${s}.scope (name) VALUES (named) ON CONFLICT DO NOTHING;
  SELECT * INTO c FROM ${s}.scope x WHERE x.name = named FOR UPDATE;
  id := c.id; seq := c.seq; protocol := c.protocol; released_at := c.released_at; wake_at := c.wake_at;
  IF c.protocol > knows THEN verdict := 'newer_protocol'; RETURN NEXT; RETURN; END IF;
  IF c.owner <> 0 THEN
    SELECT * INTO o FROM ${s}.instance i WHERE i.id = c.owner FOR SHARE;
    clock := ${s}.clock(told);
    IF FOUND AND NOT o.has_left AND o.name <> by AND o.until > clock THEN
      verdict := 'owned_by'; owner := o.name; address := o.address; RETURN NEXT; RETURN;
    END IF;
  END IF;
  SELECT i.id INTO mine FROM ${s}.instance i WHERE i.name = by AND NOT i.has_left FOR SHARE;
  IF NOT FOUND THEN
    INSERT INTO ${s}.instance (name) VALUES (by) ON CONFLICT (name) WHERE NOT has_left DO UPDATE SET name = excluded.name
      RETURNING instance.id INTO mine;
  END IF;
  verdict := 'claimed'; epoch := greatest(c.epoch, above) + 1;
  UPDATE ${s}.scope x SET epoch = claim.epoch, token = mark, owner = mine WHERE x.id = c.id;
  SELECT min(i.protocol) INTO known FROM ${s}.instance i WHERE NOT i.has_left AND i.until > ${s}.clock(told);
  SELECT b.* INTO snapshot_seq, snapshot, segment_base, segment_hash, segment, lines, finished FROM ${s}.brought(c.id) b;
  RETURN NEXT;
END $$;
`;

/** Deletes the lines up to the snapshot, but keeps some, and leaves a segment. */
const retain = (s: string): string => `
CREATE OR REPLACE FUNCTION ${s}.retain(of bigint, in_epoch bigint, mark text, upto bigint, link text, keep json)
RETURNS TABLE (verdict text, at bigint) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE c record;
BEGIN
  SELECT * INTO c FROM ${s}.scope x WHERE x.id = of FOR UPDATE;
  IF c.epoch <> in_epoch OR mark <> c.token THEN verdict := 'fenced'; at := c.epoch; RETURN NEXT; RETURN; END IF;
  IF NOT EXISTS (SELECT 1 FROM ${s}.snapshot x WHERE x.scope = of AND x.seq = upto) THEN
    verdict := 'conflict'; at := c.seq; RETURN NEXT; RETURN;
  END IF;
  DELETE FROM ${s}.kept x WHERE x.scope = of AND NOT x.seq IN (SELECT k.seq FROM json_to_recordset(keep) AS k(seq bigint));
  INSERT INTO ${s}.kept (scope, seq, line)
    SELECT of, k.seq, k.line FROM json_to_recordset(keep) AS k(seq bigint, line text) WHERE k.line IS NOT NULL
    ON CONFLICT DO NOTHING;
  DELETE FROM ${s}.append x WHERE x.scope = of AND x.last <= upto;
  INSERT INTO ${s}.segment (scope, base, hash, body) SELECT of, upto, link, x.body FROM ${s}.snapshot x WHERE x.scope = of
    ON CONFLICT (scope) DO UPDATE SET base = excluded.base, hash = excluded.hash, body = excluded.body;
  verdict := 'ok'; at := upto; RETURN NEXT;
END $$;

CREATE OR REPLACE FUNCTION ${s}.keep_snapshot(named text, in_epoch bigint, mark text, upto bigint, state text)
RETURNS TABLE (verdict text, at bigint) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE c record; since bigint;
BEGIN
  SELECT * INTO c FROM ${s}.scope x WHERE x.name = named FOR UPDATE;
  IF NOT FOUND OR c.epoch = 0 OR c.epoch <> in_epoch OR mark <> c.token THEN
    verdict := 'fenced'; at := coalesce(c.epoch, 0); RETURN NEXT; RETURN;
  END IF;
  IF NOT EXISTS (SELECT 1 FROM ${s}.append x WHERE x.scope = c.id AND x.last = upto) THEN
    verdict := 'conflict'; at := c.seq; RETURN NEXT; RETURN;
  END IF;
  INSERT INTO ${s}.snapshot (scope, seq, body) VALUES (c.id, upto, state)
    ON CONFLICT (scope) DO UPDATE SET seq = excluded.seq, body = excluded.body;
  SELECT x.seq INTO since FROM ${s}.sorted x WHERE x.scope = c.id;
  INSERT INTO ${s}.finished (scope, kind, id, seq)
    SELECT DISTINCT ON (f->>0, f->>1) c.id, f->>0, f->>1, (f->>2)::bigint
    FROM ${s}.append x, json_array_elements(x.finished::json) f
    WHERE x.scope = c.id AND x.last > coalesce(since, 0) AND x.last <= upto AND x.finished IS NOT NULL
    ORDER BY 2, 3, 4 DESC
    ON CONFLICT (scope, kind, id) DO UPDATE SET seq = excluded.seq;
  INSERT INTO ${s}.sorted (scope, seq) VALUES (c.id, upto) ON CONFLICT (scope) DO UPDATE SET seq = excluded.seq;
  verdict := 'ok'; RETURN NEXT;
END $$;
`;

/** Writes a scope that comes from another store, and the end of its move, in one transaction. */
const adopt = (s: string): string => `
CREATE OR REPLACE FUNCTION ${s}.adopt(named text, told json, lines text)
RETURNS TABLE (verdict text, at bigint) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE c record; ended record; base bigint := coalesce((told->'segment'->>'base')::bigint, 0);
BEGIN
  SELECT * INTO c FROM ${s}.scope x WHERE x.name = named FOR UPDATE;
  SELECT * INTO ended FROM ${s}.move_end x WHERE x.name = named AND x.nonce = told->>'nonce' FOR UPDATE;
  IF FOUND THEN verdict := CASE WHEN ended.epoch IS NULL THEN 'never' ELSE 'ok' END; RETURN NEXT; RETURN; END IF;
  IF c.id IS NULL OR c.epoch <> (told->>'epoch')::bigint OR told->>'mark' <> c.token THEN
    verdict := 'fenced'; at := coalesce(c.epoch, 0); RETURN NEXT; RETURN;
  END IF;
  DELETE FROM ${s}.append x WHERE x.scope = c.id;
  DELETE FROM ${s}.kept x WHERE x.scope = c.id;
  DELETE FROM ${s}.segment x WHERE x.scope = c.id;
  DELETE FROM ${s}.snapshot x WHERE x.scope = c.id;
  DELETE FROM ${s}.chain x WHERE x.scope = c.id;
  DELETE FROM ${s}.sorted x WHERE x.scope = c.id;
  INSERT INTO ${s}.append (scope, last, first, append_id, lines)
    VALUES (c.id, (told->>'last')::bigint, base + 1, c.token || ':' || (told->>'id'), adopt.lines);
  INSERT INTO ${s}.kept (scope, seq, line)
    SELECT c.id, k.seq, k.line FROM json_to_recordset(told->'kept') AS k(seq bigint, line text);
  IF base > 0 THEN
    INSERT INTO ${s}.segment VALUES (c.id, base, told->'segment'->>'hash', told->'segment'->>'snapshot');
  END IF;
  INSERT INTO ${s}.finished (scope, kind, id, seq)
    SELECT c.id, f.kind, f.id, f.seq FROM json_to_recordset(told->'finished') AS f(kind text, id text, seq bigint)
    ON CONFLICT (scope, kind, id) DO UPDATE SET seq = excluded.seq;
  INSERT INTO ${s}.letter (target, source, kind, link, number, body)
    SELECT c.id, m."from", m.kind, m.link, m.number, m.text
    FROM json_to_recordset(told->'letters') AS m("from" text, kind text, link bigint, number bigint, text text)
    ON CONFLICT (target, source, kind, link, number) DO UPDATE SET body = excluded.body;
  INSERT INTO ${s}.secret (name, kid, secret)
    SELECT named, k.kid, k.secret FROM json_to_recordset(told->'secrets') AS k(kid text, secret text) ON CONFLICT DO NOTHING;
  INSERT INTO ${s}.move_end (name, nonce, epoch) VALUES (named, told->>'nonce', c.epoch);
  UPDATE ${s}.scope x SET seq = (told->>'last')::bigint, protocol = (told->>'protocol')::int,
    wake_at = (told->>'wakeAt')::bigint, approvals = (told->>'approvals')::int, released_at = NULL WHERE x.id = c.id;
  verdict := 'ok'; RETURN NEXT;
END $$;
`;

/** Makes all functions of a schema. */
export const functions = (s: string): string => clock(s) + appendAll(s) + brought(s) + claim(s) + retain(s) + adopt(s);

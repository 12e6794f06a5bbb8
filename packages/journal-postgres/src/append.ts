/**
 * Appends: one statement, one transaction, one round trip for a group.
 *
 * The usual ones compare the claim's token and the sequence, and write the row, all in one statement that answers which scopes
 * were taken. Those that were not are judged by a function: it says why, or that the append is there already, because only
 * its acknowledgement was lost. So a statement may be sent again whenever its answer did not come.
 *
 * A group shares the sync and not the fate: if a statement fails for a reason of one member, each is sent by itself.
 */
import type { Append, AppendResult } from "@pawl/runtime/driver";
import { type Database, type Row, type Statement, integer, stored, text } from "./database.ts";
import { failure } from "./error.ts";
import type { Acknowledged } from "./acknowledged.ts";
import type { Claimed, Scopes } from "./scopes.ts";
import type { Wakes } from "./wake.ts";

/** An append with the number of its scope, and the claim of this process, if there is one. */
interface Placed {
  readonly append: Append;
  readonly id: number;
  readonly claimed: Claimed | undefined;
  readonly last: number;
}

const wake = (value: string): string =>
  `CASE WHEN ${value} < x.wake_at OR x.wake_at IS NULL THEN ${value} ELSE x.wake_at END`;

const appendOne = (s: string): Statement => ({
  name: "pawl_append",
  text: `WITH taken AS (
      UPDATE ${s}.scope x SET seq = $4, protocol = $5, approvals = coalesce($6::int, x.approvals), wake_at = ${wake("$7::bigint")}
      WHERE x.id = $1 AND x.token = $2 AND x.seq = $3::bigint - 1 RETURNING x.id)
    INSERT INTO ${s}.append (scope, last, first, append_id, finished, lines)
    SELECT id, $4, $3, $8, $9, $10 FROM taken RETURNING scope`,
});

const columns = "(s bigint, t text, f bigint, l bigint, k text, x text, d text, w bigint, v int, p int)";

const appendGroup = (s: string): Statement => ({
  name: "pawl_append_group",
  text: `WITH a AS (SELECT * FROM json_to_recordset($1::json) AS a${columns}),
    taken AS (
      UPDATE ${s}.scope x SET seq = a.l, protocol = a.p, approvals = coalesce(a.v, x.approvals), wake_at = ${wake("a.w")}
      FROM a WHERE x.id = a.s AND x.token = a.t AND x.seq = a.f - 1 RETURNING a.*)
    INSERT INTO ${s}.append (scope, last, first, append_id, finished, lines)
    SELECT s, l, f, k, d, x FROM taken RETURNING scope`,
});

const appendAny = (s: string): Statement => ({
  name: "pawl_append_any",
  text: `SELECT place, verdict, at FROM ${s}.append_all($1::json)`,
});

const linesOf = ({ lines }: Append): string => {
  let whole = "";
  for (const { line } of lines) whole += line;
  return whole;
};

/** Encodes what finished with an append, for its row. The next snapshot sorts it into the index. */
const finishedOf = ({ finished }: Append): string | null =>
  finished.length === 0 ? null : JSON.stringify(finished.map(({ kind, id, seq }) => [kind, stored(id), seq]));

const idOf = ({ appendId }: Append, token: string): string => `${token}:${appendId}`;

/** Tells whether an append writes nothing but its row and its scope's. */
const isPlain = ({ append: { lines, messages, received }, claimed }: Placed): boolean =>
  claimed !== undefined && lines.length > 0 && messages.length + received.length === 0;

const resultOf = (row: Row): AppendResult => {
  const verdict = text(row, "verdict");
  if (verdict === "fenced") return { type: "fenced", epoch: integer(row, "at") };
  return { type: "conflict", seq: integer(row, "at") };
};

interface Parts {
  readonly scopes: Scopes;
  readonly wakes: Wakes;
  readonly acknowledged: Acknowledged;
}

export class Appender {
  readonly #database: Database;
  readonly #scopes: Scopes;
  readonly #wakes: Wakes;
  readonly #acknowledged: Acknowledged;
  readonly #one: Statement;
  readonly #group: Statement;
  readonly #any: Statement;

  constructor(database: Database, { scopes, wakes, acknowledged }: Parts, schema: string) {
    this.#database = database;
    this.#scopes = scopes;
    this.#wakes = wakes;
    this.#acknowledged = acknowledged;
    this.#one = appendOne(schema);
    this.#group = appendGroup(schema);
    this.#any = appendAny(schema);
  }

  async appendAll(appends: readonly Append[]): Promise<readonly AppendResult[]> {
    const results = new Map<Append, AppendResult>();
    const placed: Placed[] = [];
    for (const append of appends) {
      const at = this.#placed(append);
      const here = at instanceof Promise ? await at : at;
      if (here === undefined) results.set(append, { type: "fenced", epoch: 0 });
      else placed.push(here);
    }
    await this.#write(placed, results);
    this.#wakes.sent(appends.filter((append) => results.get(append)?.type === "ok"));
    return appends.map((append) => results.get(append) ?? { type: "failed", message: "no result" });
  }

  /** Finds the number of an append's scope; undefined if there is no such scope. */
  #placed(append: Append): Placed | Promise<Placed | undefined> {
    const { scope, epoch, expectedSeq, lines } = append;
    const last = expectedSeq + lines.length - 1;
    const claimed = this.#scopes.at(scope, epoch);
    if (claimed !== undefined) return { append, id: claimed.id, claimed, last };
    return this.#scopes
      .idOf(scope)
      .then((id) => (id === undefined ? undefined : { append, id, claimed: undefined, last }));
  }

  async #write(placed: readonly Placed[], results: Map<Append, AppendResult>): Promise<void> {
    if (placed.length === 0) return;
    try {
      const left = await this.#writePlain(placed, results);
      if (left.length > 0) await this.#writeAny(left, results);
    } catch (thrown) {
      const [only] = placed;
      if (placed.length === 1 && only !== undefined) results.set(only.append, failure(thrown));
      else for (const one of placed) if (!results.has(one.append)) await this.#write([one], results);
    }
  }

  /** Writes the plain ones, and returns those that are left: others, and what was not taken. */
  async #writePlain(placed: readonly Placed[], results: Map<Append, AppendResult>): Promise<readonly Placed[]> {
    const isOneEach = new Set(placed.map(({ id }) => id)).size === placed.length;
    const plain = isOneEach ? placed.filter(isPlain) : [];
    if (plain.length === 0) return placed;
    const [first] = plain;
    const rows = plain.length === 1 && first !== undefined ? await this.#runOne(first) : await this.#runGroup(plain);
    const taken = new Set(rows.map((row) => integer(row, "scope")));
    for (const one of plain) if (taken.has(one.id)) this.#done(one, results);
    return placed.filter(({ append }) => !results.has(append));
  }

  #runOne({ append, id, claimed, last }: Placed): Promise<readonly Row[]> {
    const { expectedSeq, protocol, approvals = null, wakeAt = null } = append;
    const token = claimed?.token ?? "";
    const fence = [id, token, expectedSeq, last, protocol, approvals, wakeAt];
    return this.#database.query(this.#one, [...fence, idOf(append, token), finishedOf(append), linesOf(append)]);
  }

  #runGroup(plain: readonly Placed[]): Promise<readonly Row[]> {
    const rows = plain.map(({ append, id, claimed, last }) => {
      const { expectedSeq, protocol, approvals, wakeAt } = append;
      const token = claimed?.token ?? "";
      const row = { s: id, t: token, f: expectedSeq, l: last, k: idOf(append, token), x: linesOf(append), p: protocol };
      return { ...row, d: finishedOf(append), w: wakeAt, v: approvals };
    });
    return this.#database.query(this.#group, [JSON.stringify(rows)]);
  }

  async #writeAny(placed: readonly Placed[], results: Map<Append, AppendResult>): Promise<void> {
    const told = placed.map(({ append, id, claimed, last }, i) => {
      const { scope, epoch, expectedSeq, appendId, protocol, approvals, wakeAt, messages, received } = append;
      const row = { i, s: id, n: stored(scope), e: epoch, t: claimed?.token, f: expectedSeq, l: last, k: appendId };
      const o = messages.map(({ to, kind, link, number, text: b }, j) => ({
        j,
        to: stored(to),
        k: kind,
        l: link,
        n: number,
        b,
      }));
      const r = received.map(({ from, kind, link, number }) => ({ from: stored(from), k: kind, l: link, n: number }));
      return { ...row, x: linesOf(append), d: finishedOf(append), w: wakeAt, v: approvals, p: protocol, o, r };
    });
    for (const row of await this.#database.query(this.#any, [JSON.stringify(told)])) {
      const one = placed[integer(row, "place")];
      if (one === undefined) continue;
      if (row["verdict"] === null) this.#done(one, results);
      else this.#refused(one, resultOf(row), results);
    }
  }

  /** Refuses an append. Its host may have been told of more than the database has: a failover forgets claims and appends. */
  #refused({ append }: Placed, result: AppendResult, results: Map<Append, AppendResult>): void {
    results.set(append, result);
    void this.#acknowledged.look();
  }

  #done({ append, claimed, last }: Placed, results: Map<Append, AppendResult>): void {
    results.set(append, { type: "ok" });
    if (claimed !== undefined) this.#acknowledged.note(append, idOf(append, claimed.token), last);
    if (claimed !== undefined && append.lines.length > 0 && last > claimed.seq)
      this.#scopes.appended(claimed, append, last, append.wakeAt);
  }
}

/**
 * Snapshots, retention, and the hash chain over a scope's appends. The chain is computed when somebody asks for it, not when
 * appends are written.
 */
import { createHash } from "node:crypto";
import type { Journal } from "@pawl/runtime";
import { type ChainHead, type NotWritten, chainStartOf } from "@pawl/runtime/driver";
import { linkText } from "@pawl/sansio-core/driver";
import { type Database, type Row, integer, stored, text, named } from "./database.ts";
import { PostgresError, failure } from "./error.ts";
import type { Scopes } from "./scopes.ts";

type Retention = Pick<Journal, "snapshot" | "retain" | "segment" | "head" | "verify">;

const statements = (s: string) => ({
  keep: named("keep_snapshot", `SELECT * FROM ${s}.keep_snapshot($1, $2, $3, $4, $5)`),
  retain: named("retain", `SELECT * FROM ${s}.retain($1, $2, $3, $4, $5, $6::json)`),
  segment: named(
    "segment",
    `SELECT base, hash, body FROM ${s}.segment WHERE scope = (SELECT id FROM ${s}.scope WHERE name = $1)`,
  ),
  chain: named(
    "chain",
    `SELECT x.id, x.epoch, x.seq, g.base, g.hash AS base_hash, c.seq AS known, c.hash AS known_hash, p.seq AS snapshot_seq
     FROM ${s}.scope x LEFT JOIN ${s}.segment g ON g.scope = x.id LEFT JOIN ${s}.chain c ON c.scope = x.id
       LEFT JOIN ${s}.snapshot p ON p.scope = x.id WHERE x.name = $1`,
  ),
  page: named(
    "chain_page",
    `SELECT first, last, lines FROM ${s}.append WHERE scope = $1 AND last > $2 AND last <= $3 ORDER BY last LIMIT $4`,
  ),
  setChain: named(
    "set_chain",
    `INSERT INTO ${s}.chain (scope, seq, hash) SELECT id, $2, $3 FROM ${s}.scope WHERE id = $1 AND epoch = $4
     ON CONFLICT (scope) DO UPDATE SET seq = excluded.seq, hash = excluded.hash WHERE chain.seq < excluded.seq`,
  ),
});

/** The appends that are read in one trip while a chain is computed. */
const pageRows = 500;

interface Chain {
  readonly id: number;
  readonly epoch: number;
  readonly seq: number;
  readonly start: ChainHead;
  readonly known: ChainHead | undefined;
  readonly snapshotSeq: number | undefined;
}

const chainOf = (name: string, row: Row): Chain => {
  const at = (seq: string, hash: string): ChainHead | undefined =>
    row[seq] === null ? undefined : { seq: integer(row, seq), hash: text(row, hash) };
  return {
    id: integer(row, "id"),
    epoch: integer(row, "epoch"),
    seq: integer(row, "seq"),
    start: at("base", "base_hash") ?? { seq: 0, hash: chainStartOf(name) },
    known: at("known", "known_hash"),
    snapshotSeq: row["snapshot_seq"] === null ? undefined : integer(row, "snapshot_seq"),
  };
};

const verdictOf = (row: Row | undefined): { readonly type: "ok" } | NotWritten => {
  const verdict = text(row, "verdict");
  if (verdict === "fenced") return { type: "fenced", epoch: integer(row, "at") };
  return verdict === "conflict" ? { type: "conflict", seq: integer(row, "at") } : { type: "ok" };
};

export const retention = (database: Database, scopes: Scopes, schema: string): Retention => {
  const sql = statements(schema);

  const chainAt = async (name: string): Promise<Chain | undefined> => {
    const [row] = await database.query(sql.chain, [stored(name)]);
    return row === undefined || integer(row, "seq") === 0 ? undefined : chainOf(name, row);
  };

  /** Computes the links after one, page by page, and hands each to `heard`. */
  const follow = async (
    { id }: Chain,
    from: ChainHead,
    to: number,
    heard: (link: ChainHead, row: Row) => void = () => undefined,
  ): Promise<ChainHead> => {
    let link = from;
    while (link.seq < to) {
      const rows = await database.query(sql.page, [id, link.seq, to, pageRows]);
      if (rows.length === 0) throw new PostgresError("not_intact", `scope ${id}: no append ends after ${link.seq}`);
      for (const row of rows) {
        const hash = createHash("sha256")
          .update(linkText(link.hash, text(row, "lines")))
          .digest("hex");
        link = { seq: integer(row, "last"), hash };
        heard(link, row);
      }
    }
    return link;
  };

  const extended = async (chain: Chain, to: number): Promise<ChainHead> => {
    const { id, epoch, start, known } = chain;
    const link = await follow(chain, known !== undefined && known.seq <= to ? known : start, to);
    if (link.seq > (known?.seq ?? -1)) await database.query(sql.setChain, [id, link.seq, link.hash, epoch]);
    return link;
  };

  /** Reads the lines to keep that are still in appends. Those that were kept before are named only. */
  const linesToKeep = async (chain: Chain, base: number, keep: readonly number[]): Promise<string> => {
    const wanted = new Set(keep);
    const lines = new Map<number, string | null>(keep.map((seq) => [seq, null]));
    await follow(chain, chain.start, base, (_, row) => {
      const texts = text(row, "lines").split("\n");
      for (let seq = integer(row, "first"), i = 0; i < texts.length - 1; seq++, i++)
        if (wanted.has(seq)) lines.set(seq, `${texts[i]}\n`);
    });
    return JSON.stringify([...lines].map(([seq, line]) => ({ seq, line })));
  };

  return {
    snapshot: async (scope, epoch, seq, state) => {
      const token = scopes.at(scope, epoch)?.token ?? null;
      try {
        const [row] = await database.query(sql.keep, [stored(scope), epoch, token, seq, state]);
        return verdictOf(row);
      } catch (thrown) {
        return failure(thrown);
      }
    },
    retain: async (scope, epoch, keep) => {
      const chain = await chainAt(scope);
      if (chain === undefined || chain.epoch !== epoch) return { type: "fenced", epoch: chain?.epoch ?? 0 };
      const { id, seq, snapshotSeq: base } = chain;
      if (base === undefined) return { type: "conflict", seq };
      try {
        const { hash } = await extended(chain, base);
        const kept = await linesToKeep(chain, base, keep);
        const token = scopes.at(scope, epoch)?.token ?? null;
        const [row] = await database.query(sql.retain, [id, epoch, token, base, hash, kept]);
        const verdict = verdictOf(row);
        return verdict.type === "ok" ? { type: "ok", base } : verdict;
      } catch (thrown) {
        return failure(thrown);
      }
    },
    segment: async (scope) => {
      const [row] = await database.query(sql.segment, [stored(scope)]);
      if (row === undefined) return undefined;
      return { base: integer(row, "base"), hash: text(row, "hash"), snapshot: text(row, "body") };
    },
    head: async (scope) => {
      const chain = await chainAt(scope);
      return chain === undefined ? undefined : extended(chain, chain.seq);
    },
    verify: async (scope) => {
      const chain = await chainAt(scope);
      if (chain === undefined) return undefined;
      const { start, known = start, seq } = chain;
      let found = known.seq === start.seq ? start.hash : undefined;
      const last = await follow(chain, start, seq, (link) => {
        if (link.seq === known.seq) found = link.hash;
      });
      const [base, expected] = [start.seq, known.hash];
      if (found !== expected)
        return { type: "broken", base, seq: known.seq, expected, found: found ?? "no append that ends there" };
      return { type: "whole", base, ...last, kept: known.seq };
    },
  };
};

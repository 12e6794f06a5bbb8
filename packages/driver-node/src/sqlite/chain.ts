/** The hash chain over a scope's appends. It is computed when somebody asks for it, not when appends are written. */
import { type ChainCheck, type ChainHead, chainStartOf } from "@pawl/runtime/driver";
import { linkText } from "@pawl/sansio-core/driver";
import { nodePlatform } from "../platform.ts";
import type { Connection } from "./connection.ts";
import { appendsBackwards, textAt } from "./lines.ts";
import { integer, text } from "./sql.ts";
import type { ScopeIndex } from "./scope-index.ts";

interface Scope {
  readonly name: string;
  readonly id: number;
}

/** Reads how far the chain has been computed. */
const storedHead = ({ sql }: Connection, { id }: Scope): ChainHead | undefined => {
  const row = sql.chain.get(id);
  return row === undefined ? undefined : { seq: integer(row, "seq"), hash: text(row, "hash") };
};

/** Returns the chain's start: retention may have deleted earlier rows. */
const chainBegin = ({ sql }: Connection, { name }: Scope): ChainHead => {
  const row = sql.segment.get(name);
  return row === undefined
    ? { seq: 0, hash: chainStartOf(name) }
    : { seq: integer(row, "base"), hash: text(row, "hash") };
};

/** Computes the links of the appends after `from`, up to a row. */
const chainFrom = (connection: Connection, from: ChainHead, row: number | undefined): readonly ChainHead[] => {
  let { hash } = from;
  return [...appendsBackwards(connection, row, from.seq + 1)].toReversed().map((place) => {
    hash = nodePlatform.hashText(linkText(hash, textAt(connection, place)));
    return { seq: place.last, hash };
  });
};

const extend = (connection: Connection, from: ChainHead, row: number | undefined): ChainHead =>
  chainFrom(connection, from, row).at(-1) ?? from;

/** Computes the chain up to a row and stores how far it has come. Runs inside a transaction. */
export const chainTo = (connection: Connection, scope: Scope, row: number | undefined, seq: number): ChainHead => {
  const known = storedHead(connection, scope);
  if (known !== undefined && known.seq > seq) return extend(connection, chainBegin(connection, scope), row);
  const link = extend(connection, known ?? chainBegin(connection, scope), row);
  if (link.seq !== known?.seq) connection.sql.setChain.run(scope.id, link.seq, link.hash);
  return link;
};

export const head = (connection: Connection, index: ScopeIndex, name: string): ChainHead | undefined =>
  connection.transact(() => {
    const scopeRow = index.read(name);
    if (scopeRow === undefined || scopeRow.seq === 0) return undefined;
    return chainTo(connection, { name, id: scopeRow.id }, scopeRow.head, scopeRow.seq);
  });

/** Compares the lines with the stored chain and continues it over later appends. */
export const verify = (connection: Connection, index: ScopeIndex, name: string): ChainCheck | undefined =>
  connection.transact(() => {
    const scopeRow = index.read(name);
    if (scopeRow === undefined || scopeRow.seq === 0) return undefined;
    const scope = { name, id: scopeRow.id };
    const from = chainBegin(connection, scope);
    const links = chainFrom(connection, from, scopeRow.head);
    const known = storedHead(connection, scope) ?? from;
    const found = known.seq === from.seq ? from : links.find(({ seq }) => seq === known.seq);
    const [base, expected] = [from.seq, known.hash];
    if (found?.hash !== expected)
      return { type: "broken", base, seq: known.seq, expected, found: found?.hash ?? "no append that ends there" };
    return { type: "whole", base, ...(links.at(-1) ?? from), kept: known.seq };
  });

/** The chain over a scope's appends. Nothing of it is hashed where appends are written, but where it is asked for. */
import { type ChainCheck, type ChainHead, chainStartOf } from "@pawl/runtime";
import { linkText } from "@pawl/sansio-core";
import { nodePlatform } from "../platform.ts";
import type { Connection } from "./connection.ts";
import { placesBack, textAt } from "./lines.ts";
import { integer, text } from "./row.ts";
import type { Standings } from "./standing.ts";

interface Scope {
  readonly name: string;
  readonly id: number;
}

/** How far the chain has been made. */
const made = ({ sql }: Connection, { id }: Scope): ChainHead | undefined => {
  const row = sql.chain.get(id);
  return row === undefined ? undefined : { seq: integer(row, "seq"), hash: text(row, "hash") };
};

/** Where the rows begin that are still there. */
const begin = ({ sql }: Connection, { name }: Scope): ChainHead => {
  const row = sql.segment.get(name);
  return row === undefined
    ? { seq: 0, hash: chainStartOf(name) }
    : { seq: integer(row, "base"), hash: text(row, "hash") };
};

/** The links of all appends after one, up to a row. */
const chainFrom = (at: Connection, from: ChainHead, row: number | undefined): readonly ChainHead[] => {
  let { hash } = from;
  return [...placesBack(at, row, from.seq + 1)].toReversed().map((place) => {
    hash = nodePlatform.hashText(linkText(hash, textAt(at, place)));
    return { seq: place.last, hash };
  });
};

const goOn = (at: Connection, from: ChainHead, row: number | undefined): ChainHead =>
  chainFrom(at, from, row).at(-1) ?? from;

/** The chain up to a row that ends with a sequence. Inside a transaction: it is written down how far it has come. */
export const chainTo = (at: Connection, scope: Scope, row: number | undefined, seq: number): ChainHead => {
  const known = made(at, scope);
  if (known !== undefined && known.seq > seq) return goOn(at, begin(at, scope), row);
  const link = goOn(at, known ?? begin(at, scope), row);
  if (link.seq !== known?.seq) at.sql.setChain.run(scope.id, link.seq, link.hash);
  return link;
};

export const head = (at: Connection, standings: Standings, name: string): ChainHead | undefined =>
  at.transact(() => {
    const standing = standings.read(name);
    if (standing === undefined || standing.seq === 0) return undefined;
    return chainTo(at, { name, id: standing.id }, standing.head, standing.seq);
  });

/** Up to where the chain had been made; what was appended since goes on from there. */
export const verify = (at: Connection, standings: Standings, name: string): ChainCheck | undefined =>
  at.transact(() => {
    const standing = standings.read(name);
    if (standing === undefined || standing.seq === 0) return undefined;
    const scope = { name, id: standing.id };
    const from = begin(at, scope);
    const links = chainFrom(at, from, standing.head);
    const known = made(at, scope) ?? from;
    const found = known.seq === from.seq ? from : links.find(({ seq }) => seq === known.seq);
    const [base, expected] = [from.seq, known.hash];
    if (found?.hash !== expected)
      return { type: "broken", base, seq: known.seq, expected, found: found?.hash ?? "no append that ends there" };
    return { type: "whole", base, ...(links.at(-1) ?? from), kept: known.seq };
  });

/** Checks the chain of a scope's log. */
import { type ChainCheck, chainStartOf } from "@pawl/runtime/driver";
import { chain } from "@pawl/sansio-core/driver";
import { rows } from "./queries.ts";
import { scopeAt } from "./owner.ts";
import type { Reading } from "./transaction.ts";

/** Every append's lines make the link that was written with it. */
export const verify = async (at: Reading, scope: string): Promise<ChainCheck | undefined> => {
  const row = await scopeAt(at, scope);
  if (row === undefined || row.seq === 0) return undefined;
  const segment = await at.objectStore("segment").get(scope);
  const base = segment?.base ?? 0;
  let hash = segment?.hash ?? chainStartOf(scope);
  for (const append of await rows(at, scope, base + 1)) {
    hash = chain(
      hash,
      append.lines.map(({ line }) => line),
    );
    if (hash !== append.hash) return { type: "broken", base, seq: append.last, expected: append.hash, found: hash };
  }
  if (hash !== row.hash) return { type: "broken", base, seq: row.seq, expected: row.hash, found: hash };
  return { type: "whole", base, seq: row.seq, hash, kept: row.seq };
};

/**
 * A journal on SQLite: what `appendAll` has acknowledged is on disk (WAL, synchronous FULL). Epoch, sequence and lease
 * are compared inside the transaction that writes, so several processes may share one file.
 *
 * A commit writes one row an append and nothing else. Where a scope stands is kept in memory by whoever appends to it,
 * and brought up to date in the file now and then, from the rows behind a mark.
 */
import type { Journal, MoveStore } from "@pawl/runtime";
import { Appender } from "./append.ts";
import { head, verify } from "./chain.ts";
import { claim, load, release } from "./claim.ts";
import type { Connection } from "./connection.ts";
import { join, leave, lost, renew } from "./lease.ts";
import { fileMoves } from "./move.ts";
import { due, find, inbox, mailed, read, scopes } from "./look.ts";
import { putSnapshot, retain, segment } from "./retention.ts";
import { Standings } from "./standing.ts";

export interface InlineJournal extends Journal {
  readonly moves: MoveStore;
  /** Closes the file. */
  readonly close: () => Promise<void>;
}

/** A journal file in this thread: each call is done when it returns. */
export const inlineJournal = (at: Connection): InlineJournal => {
  const standings = new Standings(at);
  const appender = new Appender(at, standings);
  return {
    moves: fileMoves(at, standings),
    join: async (instance, lease) => join(at, instance, lease),
    renew: async (instance) => renew(at, instance),
    leave: async (instance) => leave(at, instance),
    lost: async () => lost(at),
    claim: async (scope, instance, protocol, above = 0) => claim(at, standings, scope, { instance, protocol, above }),
    load: async (scope, instance) => load(at, standings, scope, instance),
    release: async (scope, instance) => release(at, standings, scope, instance),
    appendAll: async (appends) => appender.appendAll(appends),
    read: async (scope, from, to = Infinity) => read(at, standings, scope, from, to),
    find: async (scope, kind, id) => find(at, standings, scope, kind, id),
    due: async (now, instance, limit) => due(at, standings, now, { instance, limit }),
    inbox: async (scope) => inbox(at, scope),
    mailed: async (instance, limit) => mailed(at, instance, limit),
    scopes: async (...page) => scopes(at, standings, "scopes", page),
    awaitingApproval: async (...page) => scopes(at, standings, "awaitingApproval", page),
    snapshot: async (scope, epoch, seq, text) => putSnapshot(at, standings, scope, epoch, { seq, text }),
    retain: async (scope, epoch, keep) => retain(at, standings, scope, epoch, new Set(keep)),
    segment: async (scope) => segment(at, scope),
    head: async (scope) => head(at, standings, scope),
    verify: async (scope) => verify(at, standings, scope),
    close: async () => {
      await appender.close();
      at.close();
    },
  };
};

/**
 * A journal on SQLite. Acknowledged appends are on disk (WAL, synchronous FULL). Epoch, sequence and lease are compared
 * in the transaction that writes (fencing), so several processes can share one file.
 *
 * A commit writes one row for each append and nothing else. The last sequence of a scope is cached in the process that
 * appends to it. The file's own index is brought up to date from time to time, from the rows behind a mark.
 */
import type { Journal } from "@pawl/runtime";
import type { MoveStore, QueueStore } from "@pawl/runtime/driver";
import { Appender } from "./append.ts";
import { head, verify } from "./chain.ts";
import { claim, load, release, join, leave, lost, renew } from "./ownership.ts";
import type { Connection } from "./connection.ts";
import { fileMoves } from "./move.ts";
import { due, find, inbox, mailed, read, scopes } from "./query.ts";
import { FileQueues } from "./queue.ts";
import { putSnapshot, retain, segment } from "./retention.ts";
import { ScopeIndex } from "./scope-index.ts";

export interface InlineJournal extends Journal {
  readonly moves: MoveStore;
  readonly queues: QueueStore;
  /** Closes the file. */
  readonly close: () => Promise<void>;
}

/** Opens a journal in this thread. Each call has finished when it returns. */
export const inlineJournal = (connection: Connection): InlineJournal => {
  const index = new ScopeIndex(connection);
  const appender = new Appender(connection, index);
  const queues = new FileQueues(connection);
  return {
    moves: fileMoves(connection, index),
    queues: {
      advance: async (...of) => queues.advance(...of),
      leave: async (...of) => queues.leave(...of),
      standing: async (scope) => queues.standing(scope),
    },
    join: async (instance, lease) => join(connection, instance, lease),
    renew: async (instance) => renew(connection, instance),
    leave: async (instance) => leave(connection, instance),
    lost: async () => lost(connection),
    claim: async (scope, instance, protocol, above = 0) =>
      claim(connection, index, scope, { instance, protocol, above }),
    load: async (scope, instance) => load(connection, index, scope, instance),
    release: async (scope, instance) => release(connection, index, scope, instance),
    appendAll: async (appends) => appender.appendAll(appends),
    read: async (scope, from, to = Infinity) => read(connection, index, scope, from, to),
    find: async (scope, kind, id) => find(connection, index, scope, kind, id),
    due: async (now, instance, limit) => due(connection, index, now, { instance, limit }),
    inbox: async (scope) => inbox(connection, scope),
    mailed: async (instance, limit) => mailed(connection, instance, limit),
    scopes: async (...page) => scopes(connection, index, "scopes", page),
    awaitingApproval: async (...page) => scopes(connection, index, "awaitingApproval", page),
    snapshot: async (scope, epoch, seq, text) => putSnapshot(connection, index, scope, epoch, { seq, text }),
    retain: async (scope, epoch, keep) => retain(connection, index, scope, epoch, new Set(keep)),
    segment: async (scope) => segment(connection, scope),
    head: async (scope) => head(connection, index, scope),
    verify: async (scope) => verify(connection, index, scope),
    close: async () => {
      await appender.close();
      connection.close();
    },
  };
};

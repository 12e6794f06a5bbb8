/**
 * The journal of an object: of its one scope, in its own SQLite. There are no leases, since the platform has an object run in one
 * place at a time. Of other scopes it knows nothing, and says so (`not_here`): it never answers as if they were empty.
 */
import { type Journal, Refused } from "@pawl/runtime";
import { type Append, type AppendResult, type ScopeEntry, textOf } from "@pawl/runtime/driver";
import type { Alarm } from "./alarm.ts";
import { ScopeLog } from "./log.ts";
import { Mail } from "./mail.ts";
import type { ObjectStorage } from "./object.ts";
import { Retention } from "./retention.ts";
import { Tables } from "./table.ts";

export interface ObjectJournalOptions {
  /**
   * `sync` (default): an append resolves once it is durable. `gate`: at once; the platform holds back what leaves the object until it
   * is.
   */
  readonly durability?: "sync" | "gate";
  /** Bytes above which appends are refused as `full`: a little less than the 10 GB of an object. */
  readonly maxBytes?: number;
  /** Returns where clients reach the object of another scope: by default its name. */
  readonly addressOf?: (scope: string) => string;
}

const defaultMaxBytes = 9_900_000_000;

interface JournalPort {
  readonly scope: string;
  readonly storage: ObjectStorage;
  readonly alarm: Alarm;
  readonly carry: (to: string) => void;
  readonly options: ObjectJournalOptions;
}

export interface ObjectJournal {
  readonly journal: Journal;
  readonly tables: Tables;
  readonly log: ScopeLog;
  readonly mail: Mail;
  /** Has the runtime take the letters that have come. */
  readonly arrived: () => void;
}

const sizeOf = ({ lines, messages }: Append): number =>
  [...lines.map(({ line }) => line), ...messages.map(({ text }) => text)].reduce((sum, { length }) => sum + length, 0);

const failureOf = (thrown: unknown): AppendResult => {
  const message = textOf(thrown);
  return message.includes("SQLITE_FULL") ? { type: "full" } : { type: "failed", message };
};

export const objectJournal = ({ scope: own, storage, alarm, carry, options }: JournalPort): ObjectJournal => {
  const { durability = "sync", addressOf = (scope) => scope } = options;
  const tables = new Tables(storage);
  const mail = new Mail(tables);
  const log = new ScopeLog(tables, mail, own);
  const retention = new Retention(tables, log);
  let arrived: ((scope: string) => void) | undefined;

  const elsewhere = (scope: string): Refused =>
    new Refused("not_here", `this object holds ${own}, and knows nothing of ${scope}: ask the object of that scope`);
  /** Makes a verb that is answered for the object's own scope only. */
  const here =
    <Of extends readonly unknown[], A>(verb: (...of: Of) => A) =>
    async (scope: string, ...of: Of): Promise<A> => {
      if (scope !== own) throw elsewhere(scope);
      return verb(...of);
    };
  const list = (): ScopeEntry => ({
    scope: own,
    epoch: log.epoch,
    seq: log.seq,
    ...(log.owner === undefined ? {} : { owner: log.owner }),
    ...(log.wakeAt === undefined ? {} : { wakeAt: log.wakeAt }),
    ...(log.approvals > 0 ? { approvals: log.approvals } : {}),
  });
  const append = (one: Append): AppendResult => {
    if (one.scope !== own) throw elsewhere(one.scope);
    try {
      if (storage.sql.databaseSize + sizeOf(one) > (options.maxBytes ?? defaultMaxBytes)) return { type: "full" };
      const result = log.append(one);
      // Set with the append: what it asks for is looked after, whatever becomes of this object's memory.
      if (result.type === "ok" && one.wakeAt !== undefined) alarm.lookAfter(one.wakeAt);
      if (result.type === "ok" && one.messages.length > 0) alarm.lookAfter(0);
      return result;
    } catch (thrown) {
      return failureOf(thrown);
    }
  };
  const appendAll = async (appends: readonly Append[]): Promise<readonly AppendResult[]> => {
    const results = appends.map(append);
    if (durability === "gate" || !results.some(({ type }) => type === "ok")) return results;
    try {
      await storage.sync();
      return results;
    } catch (thrown) {
      return results.map((result) => (result.type === "ok" ? failureOf(thrown) : result));
    }
  };

  const journal: Journal = {
    outbox: {
      isHere: (scope) => scope === own,
      carry,
      listen: (listener) => void (arrived = listener),
    },
    join: async () => undefined,
    renew: async () => true,
    leave: async (instance) => log.leave(instance),
    lost: async () => [],
    claim: async (scope, instance, protocol, above = 0) =>
      scope === own
        ? log.claim(instance, protocol, above)
        : { type: "owned_by", instance: `the object of ${scope}`, address: addressOf(scope) },
    load: here((instance: string) => log.load(instance)),
    release: here((instance: string) => log.release(instance)),
    appendAll,
    read: here((from: number, to = Infinity) => log.read(from, to)),
    find: here((kind: string, id: string) => log.find(kind, id)),
    due: async (now) => (log.wakeAt !== undefined && log.wakeAt <= now ? [own] : []),
    inbox: here(() => mail.inbox()),
    mailed: async () => (mail.hasMail ? [own] : []),
    scopes: here((_after: string, _limit: number) => [list()]),
    awaitingApproval: here((_after: string, _limit: number) => (log.approvals > 0 ? [list()] : [])),
    snapshot: here((epoch: number, seq: number, text: string) => retention.snapshot(epoch, seq, text)),
    retain: here((epoch: number, keep: readonly number[]) => retention.retain(epoch, keep)),
    segment: here(() => retention.segment()),
    head: here(() => retention.head()),
    verify: here(() => retention.verify()),
  };
  return { journal, tables, log, mail, arrived: () => arrived?.(own) };
};

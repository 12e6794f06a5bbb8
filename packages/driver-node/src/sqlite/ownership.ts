/**
 * Ownership of scopes: claims, leases of instances, and the identity of the process behind a lease.
 *
 * A lease has one row and one renewal for each instance, by the store's clock. A lease whose process has ended is
 * dropped at once, without waiting for it to expire.
 */
import type { Claim, Holding, LastOwner, Snapshot, Lease } from "@pawl/runtime/driver";
import type { Connection } from "./connection.ts";
import { type Row, integer, optional, text } from "./sql.ts";
import type { ScopeRow, ScopeIndex } from "./scope-index.ts";
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";

/** Time after which a lost instance is forgotten. */
const rememberedMs = 7 * 24 * 60 * 60 * 1000;

export const join = (connection: Connection, instance: string, { ttlMs, address, protocol = 1 }: Lease): void => {
  connection.checkPlace();
  return connection.transact(() => {
    const { sql } = connection;
    const now = connection.now();
    sql.forget.run(now - rememberedMs);
    sql.join.run(instance, now + ttlMs, ttlMs, address ?? null, processIdentity() ?? null, protocol);
  });
};

/** Renews a lease. One in a file that nobody finds again is lost. */
export const renew = (connection: Connection, instance: string): boolean =>
  connection.isInPlace && connection.transact(() => connection.sql.renew.run(connection.now(), instance).changes === 1);

export const leave = (connection: Connection, instance: string): void =>
  connection.transact(() => void connection.sql.leave.run(instance));

/** Ends the leases of dead processes. Runs inside a transaction. */
export const expireDeadLeases = ({ sql, now }: Connection): void => {
  for (const row of sql.marks.all(now())) if (hasEnded(text(row, "process"))) sql.end.run(now(), integer(row, "id"));
};

export const lost = (connection: Connection): readonly string[] =>
  connection.transact(() => {
    expireDeadLeases(connection);
    return connection.sql.lost.all(connection.now()).map((row) => text(row, "name"));
  });

/** Reads the state and start time from `/proc/<pid>/stat`. The name before them may contain anything. */
const statOf = (pid: number): { readonly state: string; readonly began: string } | undefined => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return { state: fields[0] ?? "", began: fields[19] ?? "" };
  } catch {
    return undefined; // The process has ended, or there is no `/proc`; the caller decides.
  }
};

/** Identifies the range in which process numbers are unique: a boot and a PID namespace on Linux, else the machine. */
const realm = (): string =>
  process.platform === "linux"
    ? `${readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()} ${readlinkSync("/proc/self/ns/pid")}`
    : hostname();

const readIdentity = (): string | undefined => {
  try {
    return [realm(), process.pid, statOf(process.pid)?.began ?? ""].join("|");
  } catch {
    return undefined; // Without an identity its leases end by the clock.
  }
};
let own: { readonly mark: string | undefined } | undefined;

/** Returns an identity of this process; undefined if none can be read. */
export const processIdentity = (): string | undefined => (own ??= { mark: readIdentity() }).mark;

const isThere = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch (thrown) {
    return !(thrown instanceof Error && "code" in thrown && thrown.code === "ESRCH");
  }
};

/** Tells whether a process has certainly ended. Nothing is known about processes of other machines or namespaces. */
export const hasEnded = (mark: string): boolean => {
  const [where, number, began] = mark.split("|");
  const pid = Number(number);
  if (where !== processIdentity()?.split("|")[0] || !Number.isSafeInteger(pid)) return false;
  const stat = statOf(pid);
  if (stat === undefined) return !isThere(pid);
  return stat.began !== began || stat.state === "Z" || stat.state === "X";
};

const snapshotOf = ({ sql }: Connection, id: number): Snapshot | undefined => {
  const row = sql.snapshot.get(id);
  return row === undefined ? undefined : { seq: integer(row, "seq"), text: text(row, "text") };
};

const holding = (connection: Connection, { id, epoch, seq }: ScopeRow): Holding => {
  const snapshot = snapshotOf(connection, id);
  return { epoch, seq, ...(snapshot !== undefined && { snapshot }) };
};

/** Returns the live instance that owns the scope, unless it is the one that asks. */
const otherOwner = (connection: Connection, scope: string, instance: string): Claim | undefined => {
  const find = (): Row | undefined => connection.sql.owner.get(scope, connection.now(), instance);
  if (find() === undefined) return undefined;
  expireDeadLeases(connection);
  const row = find();
  if (row === undefined) return undefined;
  const address = optional(text, row, "address");
  return { type: "owned_by", instance: text(row, "name"), ...(address !== undefined && { address }) };
};

/** Returns the number of an instance and adds it if it has not joined. */
const numberOf = ({ sql }: Connection, instance: string): number => {
  sql.know.run(instance);
  return integer(sql.instance.get(instance) ?? {}, "id");
};

/** The newest protocol that all live instances know, where it is older than this one. */
const knownBelow = (connection: Connection, protocol: number): { readonly known?: number } => {
  const find = (): number => {
    const row = connection.sql.known.get(connection.now()) ?? {};
    return optional(integer, row, "known") ?? protocol;
  };
  if (find() >= protocol) return {};
  expireDeadLeases(connection);
  const known = find();
  return known < protocol ? { known } : {};
};

const lastOwnerOf = ({ seq }: ScopeRow, row: Row): { readonly lastOwner?: LastOwner } =>
  seq === 0 ? {} : { lastOwner: optional(integer, row, "released_at") === seq ? "released" : "lost" };

export const claim = (
  connection: Connection,
  index: ScopeIndex,
  scope: string,
  who: { readonly instance: string; readonly protocol: number; readonly above: number },
): Claim => {
  connection.checkPlace();
  connection.checkName(scope);
  return connection.unsynced(() => {
    connection.sql.make.run(scope);
    const scopeRow = index.read(scope) as ScopeRow;
    if (scopeRow.protocol > who.protocol) return { type: "newer_protocol", protocol: scopeRow.protocol };
    const owned = otherOwner(connection, scope, who.instance);
    if (owned !== undefined) return owned;
    const epoch = Math.max(scopeRow.epoch, who.above) + 1;
    const row = connection.sql.claim.get(epoch, numberOf(connection, who.instance), scopeRow.id) ?? {};
    index.keep(scope, { ...scopeRow, epoch });
    const known = knownBelow(connection, who.protocol);
    return { type: "claimed", ...known, ...lastOwnerOf(scopeRow, row), ...holding(connection, { ...scopeRow, epoch }) };
  });
};

export const load = (
  connection: Connection,
  index: ScopeIndex,
  scope: string,
  instance: string,
): Holding | undefined => {
  connection.checkPlace();
  return connection.unsynced(() => {
    if (connection.sql.isOwner.get(scope, instance) === undefined) return undefined;
    const scopeRow = index.read(scope);
    return scopeRow === undefined ? undefined : holding(connection, scopeRow);
  });
};

/** Releases a scope. Does not sync: a power cut may undo it, and the owner then counts as lost. */
export const release = (connection: Connection, index: ScopeIndex, scope: string, instance: string): void =>
  connection.unsynced(() => {
    index.catchUp();
    connection.sql.release.run(scope, instance);
    index.forget(scope);
  });

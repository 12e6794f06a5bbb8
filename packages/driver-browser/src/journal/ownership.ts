/**
 * The owners of scopes. An instance has a lease and claims scopes; a claim raises the epoch of its scope, which fences the
 * owner before.
 */
import { type Claim, type Holding, type LastOwner, type Lease, chainStartOf } from "@pawl/runtime/driver";
import type { LeaseRow, ScopeRow } from "./schema.ts";
import type { Reading, Writing } from "./transaction.ts";

const freshScope = (name: string): ScopeRow => ({
  name,
  epoch: 0,
  protocol: 0,
  seq: 0,
  hash: chainStartOf(name),
});

export const scopeAt = async (at: Reading, name: string): Promise<ScopeRow | undefined> =>
  at.objectStore("scope").get(name);

export const join = async (at: Writing, instance: string, lease: Lease, now: number): Promise<void> => {
  await at.objectStore("lease").put({ instance, ...lease, until: now + lease.ttlMs });
};

/** Returns the lease of an instance, unless it has expired. */
const live = async (at: Reading, instance: string, now: number): Promise<LeaseRow | undefined> => {
  const lease = await at.objectStore("lease").get(instance);
  return lease !== undefined && now < lease.until ? lease : undefined;
};

export const renew = async (at: Writing, instance: string, now: number): Promise<boolean> => {
  const lease = await live(at, instance, now);
  if (lease !== undefined) await join(at, instance, lease, now);
  return lease !== undefined;
};

const withoutOwner = ({ owner, ...row }: ScopeRow): ScopeRow => (owner === undefined ? row : { ...row });

export const leave = async (at: Writing, instance: string): Promise<void> => {
  await at.objectStore("lease").delete(instance);
  for (const row of await at.objectStore("scope").getAll())
    if (row.owner === instance) await at.objectStore("scope").put(withoutOwner(row));
};

export const lost = async (at: Reading, now: number): Promise<readonly string[]> =>
  (await at.objectStore("lease").getAll()).filter(({ until }) => until <= now).map(({ instance }) => instance);

/** Returns the live lease of another instance that owns the scope. */
export const otherOwner = async (
  at: Reading,
  { owner }: ScopeRow,
  instance: string | undefined,
  now: number,
): Promise<LeaseRow | undefined> => (owner === undefined || owner === instance ? undefined : live(at, owner, now));

const holding = async (at: Reading, { name, epoch, seq }: ScopeRow): Promise<Holding> => {
  const snapshot = await at.objectStore("snapshot").get(name);
  return { epoch, seq, ...(snapshot !== undefined && { snapshot }) };
};

const lastOwnerOf = ({ seq, releasedAt }: ScopeRow): { readonly lastOwner?: LastOwner } =>
  seq === 0 ? {} : { lastOwner: releasedAt === seq ? "released" : "lost" };

export interface Claiming {
  readonly instance: string;
  readonly protocol: number;
  readonly above: number;
  readonly now: number;
}

/** The newest protocol that all live instances know, where it is older than the claimant's. */
const knownBelow = async (at: Reading, { protocol, now }: Claiming): Promise<{ readonly known?: number }> => {
  const leases = (await at.objectStore("lease").getAll()).filter(({ until }) => now < until);
  const known = Math.min(...leases.map((lease) => lease.protocol ?? 1));
  return known < protocol ? { known } : {};
};

export const claim = async (at: Writing, name: string, who: Claiming): Promise<Claim> => {
  const row = (await scopeAt(at, name)) ?? freshScope(name);
  if (row.protocol > who.protocol) return { type: "newer_protocol", protocol: row.protocol };
  const lease = await otherOwner(at, row, who.instance, who.now);
  if (lease !== undefined) {
    const { instance, address } = lease;
    return { type: "owned_by", instance, ...(address !== undefined && { address }) };
  }
  const claimed = { ...row, owner: who.instance, epoch: Math.max(row.epoch, who.above) + 1 };
  await at.objectStore("scope").put(claimed);
  const known = await knownBelow(at, who);
  return { type: "claimed", ...known, ...lastOwnerOf(row), ...(await holding(at, claimed)) };
};

export const load = async (at: Reading, name: string, instance: string): Promise<Holding | undefined> => {
  const row = await scopeAt(at, name);
  return row?.owner === instance ? holding(at, row) : undefined;
};

export const release = async (at: Writing, name: string, instance: string): Promise<void> => {
  const row = await scopeAt(at, name);
  if (row?.owner === instance) await at.objectStore("scope").put({ ...withoutOwner(row), releasedAt: row.seq });
};

/** Returns the secrets that sign the wait keys of a scope, if it came from another store. */
export const secrets = (at: Reading, scope: string) =>
  at.objectStore("secret").getAll(IDBKeyRange.bound([scope], [scope, []]));

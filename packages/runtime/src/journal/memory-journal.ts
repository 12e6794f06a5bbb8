/** A journal in memory: for tests and trials, and as the plainest model of a store. */
import type {
  Adoption,
  Append,
  AppendResult,
  Claim,
  Journal,
  Lease,
  MoveEnd,
  MoveStore,
  ScopeEntry,
} from "./journal.ts";
import { memoryBlobs } from "./blob.ts";
import { MemoryQueues, type MemoryQueuesPort } from "./queue.ts";
import { StoredScope } from "./memory-scope.ts";
import type { ScopeSecret } from "../scope/wait-token.ts";

export interface MemoryJournalOptions {
  /** The store's clock in milliseconds, by which leases run. */
  readonly now?: () => number;
  /** Returns the number of characters of lines that fit. */
  readonly capacity?: () => number;
}

interface HeldLease extends Lease {
  readonly until: number;
}

class MemoryStore {
  readonly #now: () => number;
  readonly #capacity: () => number;
  readonly #scopes = new Map<string, StoredScope>();
  readonly #leases = new Map<string, HeldLease>();
  readonly #left = new Set<string>();
  #size = 0;

  constructor({ now = Date.now, capacity = () => Infinity }: MemoryJournalOptions) {
    this.#now = now;
    this.#capacity = capacity;
  }

  join(instance: string, lease: Lease): void {
    this.#left.delete(instance);
    this.#leases.set(instance, { ...lease, until: this.#now() + lease.ttlMs });
  }

  /** Returns the lease of an instance, if it has not run out. */
  #live(instance: string): HeldLease | undefined {
    const lease = this.#leases.get(instance);
    return lease !== undefined && this.#now() < lease.until ? lease : undefined;
  }

  /** Answers what queues ask of the store. An instance that never had a lease lives until it leaves. */
  get queuesPort(): MemoryQueuesPort {
    const isAlive = (instance: string): boolean =>
      this.#leases.has(instance) ? this.#live(instance) !== undefined : !this.#left.has(instance);
    return { now: this.#now, isAlive, isOwner: (scope, instance) => this.known(scope)?.owner === instance };
  }

  renew(instance: string): boolean {
    const lease = this.#live(instance);
    if (lease !== undefined) this.join(instance, lease);
    return lease !== undefined;
  }

  leave(instance: string): void {
    this.#leases.delete(instance);
    this.#left.add(instance);
    for (const scope of this.#scopes.values()) if (scope.owner === instance) scope.owner = undefined;
  }

  lost(): readonly string[] {
    return [...this.#leases.keys()].filter((instance) => this.#live(instance) === undefined);
  }

  at(scope: string): StoredScope {
    const stored = this.#scopes.get(scope) ?? new StoredScope(scope);
    this.#scopes.set(scope, stored);
    return stored;
  }

  known(scope: string): StoredScope | undefined {
    return this.#scopes.get(scope);
  }

  /** Returns the lease of another instance that owns the scope. */
  #other(scope: StoredScope, instance: string | undefined): HeldLease | undefined {
    return scope.owner === undefined || scope.owner === instance ? undefined : this.#live(scope.owner);
  }

  /** The newest protocol that all live instances know, where it is older than this one. */
  #knownBelow(protocol: number): { readonly known?: number } {
    const live = [...this.#leases.keys()].flatMap((instance) => this.#live(instance) ?? []);
    const known = Math.min(...live.map((lease) => lease.protocol ?? 1));
    return known < protocol ? { known } : {};
  }

  claim(name: string, instance: string, protocol: number, above: number): Claim {
    const scope = this.at(name);
    if (scope.protocol > protocol) return { type: "newer_protocol", protocol: scope.protocol };
    const lease = this.#other(scope, instance);
    if (lease === undefined) return { type: "claimed", ...this.#knownBelow(protocol), ...scope.claim(instance, above) };
    const { address } = lease;
    return { type: "owned_by", instance: scope.owner ?? "", ...(address !== undefined && { address }) };
  }

  append(append: Append): AppendResult {
    const scope = this.at(append.scope);
    const judged = scope.judge(append);
    if (judged !== undefined) return judged;
    const size = append.lines.reduce((sum, { line }) => sum + line.length, 0);
    if (this.#size + size > this.#capacity()) return { type: "full" };
    this.#size += size;
    scope.write(append);
    for (const { to, ...letter } of append.messages) this.at(to).deliver({ from: append.scope, ...letter });
    return { type: "ok" };
  }

  /** Lists matching scopes, without those of other live instances. */
  free(instance: string | undefined, fits: (scope: StoredScope) => boolean): StoredScope[] {
    return [...this.#scopes.values()].filter((scope) => fits(scope) && this.#other(scope, instance) === undefined);
  }

  scopes(prefix: string, after: string, limit: number, leastApprovals: number): readonly ScopeEntry[] {
    return [...this.#scopes.values()]
      .filter(({ name, approvals }) => name.startsWith(prefix) && name > after && approvals >= leastApprovals)
      .toSorted((a, b) => (a.name < b.name ? -1 : 1))
      .slice(0, limit)
      .map(({ name, epoch, seq, owner, wakeAt, approvals }) => ({
        scope: name,
        epoch,
        seq,
        ...(owner !== undefined && { owner }),
        ...(wakeAt !== undefined && { wakeAt }),
        ...(approvals > 0 && { approvals }),
      }));
  }
}

const namesOf = (scopes: readonly StoredScope[]): readonly string[] => scopes.map(({ name }) => name);

/** Makes a journal that lives as long as its process. */
export const memoryJournal = (options: MemoryJournalOptions = {}): Journal => {
  const store = new MemoryStore(options);
  const owned = (scope: string, instance: string): StoredScope | undefined => {
    const stored = store.known(scope);
    return stored?.owner === instance ? stored : undefined;
  };
  return {
    moves: memoryMoves((scope) => store.at(scope)),
    blobs: memoryBlobs(options),
    queues: new MemoryQueues(store.queuesPort),
    join: async (instance, lease) => store.join(instance, lease),
    renew: async (instance) => store.renew(instance),
    leave: async (instance) => store.leave(instance),
    lost: async () => store.lost(),
    claim: async (scope, instance, protocol, above = 0) => store.claim(scope, instance, protocol, above),
    load: async (scope, instance) => owned(scope, instance)?.holding,
    release: async (scope, instance) => owned(scope, instance)?.release(),
    appendAll: async (appends) => appends.map((append) => store.append(append)),
    read: async (scope, from, to = Infinity) => store.known(scope)?.read(from, to) ?? [],
    find: async (scope, kind, id) => store.known(scope)?.find(kind, id),
    due: async (now, instance, limit) => {
      const due = store.free(instance, ({ wakeAt }) => wakeAt !== undefined && wakeAt <= now);
      return namesOf(due.toSorted((a, b) => (a.wakeAt ?? 0) - (b.wakeAt ?? 0)).slice(0, limit));
    },
    inbox: async (scope) => store.known(scope)?.inbox() ?? [],
    mailed: async (instance, limit) => namesOf(store.free(instance, ({ hasMail }) => hasMail).slice(0, limit)),
    scopes: async (prefix, after, limit) => store.scopes(prefix, after, limit, 0),
    awaitingApproval: async (prefix, after, limit) => store.scopes(prefix, after, limit, 1),
    snapshot: async (scope, epoch, seq, text) => store.at(scope).keepSnapshot(epoch, { seq, text }),
    retain: async (scope, epoch, keep) => store.at(scope).retain(epoch, keep),
    segment: async (scope) => store.known(scope)?.segment,
    head: async (scope) => store.known(scope)?.head,
    verify: async (scope) => {
      const stored = store.known(scope);
      const head = stored?.head;
      return head && { type: "whole", base: stored?.segment?.base ?? 0, ...head, kept: head.seq };
    },
  };
};

interface Moves {
  readonly ends: Map<string, MoveEnd>;
  readonly secrets: Map<string, ScopeSecret>;
}

const memoryMoves = (at: (scope: string) => StoredScope): MoveStore => {
  const scopes = new Map<string, Moves>();
  const of = (scope: string): Moves => {
    const moves = scopes.get(scope) ?? { ends: new Map(), secrets: new Map() };
    scopes.set(scope, moves);
    return moves;
  };
  const adopt = (adoption: Adoption): Awaited<ReturnType<MoveStore["adopt"]>> => {
    const { ends, secrets } = of(adoption.scope);
    const ended = ends.get(adoption.nonce);
    if (ended !== undefined) return ended.type === "never" ? ended : { type: "ok" };
    const fenced = at(adoption.scope).adopt(adoption);
    if (fenced !== undefined) return fenced;
    ends.set(adoption.nonce, { type: "received", epoch: adoption.epoch });
    for (const secret of adoption.secrets) secrets.set(`${secret.kid} ${secret.secret}`, secret);
    return { type: "ok" };
  };
  const decline = (scope: string, nonce: string): MoveEnd => {
    const { ends } = of(scope);
    const end = ends.get(nonce) ?? { type: "never" };
    ends.set(nonce, end);
    return end;
  };
  return {
    adopt: async (adoption) => adopt(adoption),
    decline: async (scope, nonce) => decline(scope, nonce),
    ended: async (scope, nonce) => of(scope).ends.get(nonce),
    secrets: async (scope) => [...of(scope).secrets.values()],
    index: async (scope) => at(scope).index(),
  };
};

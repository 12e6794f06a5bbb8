/**
 * An index of scopes: the last sequence of each, and what has finished in it. The rows of scopes that append here are
 * cached in memory while nobody else commits. The file covers all scopes up to a mark; rows behind the mark are added
 * when somebody asks, and after a number of commits.
 */
import type { Finished } from "@pawl/sansio-core";
import type { Connection } from "./connection.ts";
import { integer, optional, text } from "./sql.ts";
import { BloomFilter } from "@pawl/runtime/driver";

export interface ScopeRow {
  readonly id: number;
  readonly epoch: number;
  readonly protocol: number;
  /** The last sequence, and the row that holds it. */
  readonly seq: number;
  readonly head: number | undefined;
  readonly appendId: string;
  /** Everything that has finished, if the scope began here. */
  readonly finished?: BloomFilter | undefined;
}

/** Commits after which the mark moves, so that few rows have to be read after a crash. */
const commitsPerMark = 1000;

/** Finished entries after which the mark moves: this many are sorted in within 10 ms. */
const finishedPerMark = 4096;

/** Maximum number of cached scopes, the most recent ones. */
const maxCachedScopes = 4096;

const finishedKey = (scope: number, kind: string, id: string): string => `${scope} ${kind} ${id}`;

export class ScopeIndex {
  readonly #connection: Connection;
  readonly #cached = new Map<string, ScopeRow>();
  /** Entries that finished behind the mark. */
  readonly #finishing = new Map<string, number>();
  #rollbacks = 0;
  #sinceMark = 0;
  #newest = 0;
  #version: unknown;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Writes the last sequence of each scope to the file. Runs inside a transaction. */
  catchUp(): void {
    const { sql } = this.#connection;
    const newest = Number(sql.newest.get()?.["id"] ?? 0);
    const mark = Number(sql.mark.get()?.["upto"] ?? 0);
    this.#sinceMark = 0;
    if (newest === mark) return;
    sql.catchUp.run(mark);
    sql.indexFinishing.run(mark);
    sql.setMark.run(newest);
    this.#finishing.clear();
  }

  get #isMarkDue(): boolean {
    return this.#sinceMark >= commitsPerMark || this.#finishing.size >= finishedPerMark;
  }

  /** Reads a scope from the file, after catching up. Runs inside a transaction. */
  read(scope: string): ScopeRow | undefined {
    this.catchUp();
    const row = this.#connection.sql.scopeRow.get(scope);
    if (row === undefined) return undefined;
    const [id, epoch, protocol, seq] = [
      integer(row, "id"),
      integer(row, "epoch"),
      integer(row, "protocol"),
      integer(row, "seq"),
    ];
    const [head, appendId] = [optional(integer, row, "head"), text(row, "appendId")];
    return { id, epoch, protocol, seq, head, appendId, finished: seq === 0 ? new BloomFilter() : undefined };
  }

  /** Returns the row of a scope that appends. Runs inside a transaction. */
  of(scope: string): ScopeRow | undefined {
    const known = this.#valid.get(scope);
    if (known !== undefined) return known;
    const read = this.read(scope);
    if (read !== undefined) this.keep(scope, read);
    return read;
  }

  /** Returns the row of a scope and drops cached rows that are stale. Runs inside a transaction. */
  inTransaction(scope: string): ScopeRow | undefined {
    this.beforeAppends();
    return this.of(scope);
  }

  /** Returns the cached row, unless the mark is due to move. */
  current(scope: string): ScopeRow | undefined {
    return this.#isMarkDue ? undefined : this.#valid.get(scope);
  }

  /**
   * Returns the cached row if nobody has claimed the scope since: a new owner appends rows that are not cached here.
   */
  unclaimed(scope: string): ScopeRow | undefined {
    const known = this.#valid.get(scope);
    if (known === undefined) return undefined;
    const row = this.#connection.query(() => this.#connection.sql.epoch.get(known.id));
    if (row !== undefined && integer(row, "epoch") === known.epoch) return known;
    this.forget(scope);
    return undefined;
  }

  /** Tells whether something may have finished. If the scope began here, "no" is certain. */
  mayHaveFinished({ id: scope, finished }: ScopeRow, kind: string, id: string): boolean {
    return finished?.mayContain(finishedKey(scope, kind, id)) ?? true;
  }

  /** Returns the event that finished something, if it is behind the mark. */
  finishing(scope: number, kind: string, id: string): number | undefined {
    return this.#finishing.get(finishedKey(scope, kind, id));
  }

  /** Records what finished with an append. */
  finished({ id: scope, finished }: ScopeRow, all: readonly (Finished & { readonly seq: number })[]): void {
    for (const { kind, id, seq } of all) {
      const name = finishedKey(scope, kind, id);
      this.#finishing.set(name, seq);
      finished?.add(name);
    }
  }

  /** The last row appended from here. The next append from here must follow it. */
  get newest(): number {
    return this.#newest;
  }

  /** Caches a row and evicts the least recently used one. */
  keep(scope: string, scopeRow: ScopeRow): void {
    this.#newest = Math.max(this.#newest, scopeRow.head ?? 0);
    this.#cached.delete(scope);
    this.#cached.set(scope, scopeRow);
    if (this.#cached.size <= maxCachedScopes) return;
    const [oldest] = this.#cached.keys();
    if (oldest !== undefined) this.#cached.delete(oldest);
  }

  forget(scope: string): void {
    this.#cached.delete(scope);
  }
  /** Drops everything cached after a failed commit: only the file knows what it left. */
  forgetAll(): void {
    this.#cached.clear();
    this.#finishing.clear();
    this.#newest = 0;
  }
  /** The cached rows; dropped if a transaction was rolled back, which may have included a catch-up. */
  get #valid(): Map<string, ScopeRow> {
    if (this.#rollbacks !== this.#connection.rollbacks) this.forgetAll();
    this.#rollbacks = this.#connection.rollbacks;
    return this.#cached;
  }

  /** Drops cached rows if another connection has committed. Runs inside the transaction that appends. */
  beforeAppends(): void {
    const version = this.#connection.sql.dataVersion.get()?.["data_version"];
    if (version !== this.#version) this.forgetAll();
    this.#version = version;
    if (this.#isMarkDue) this.catchUp();
  }
  committed(): void {
    this.#sinceMark += 1;
  }
}

/**
 * Where scopes stand, and what of them has finished. In memory for those that append, as many as a bound says and as
 * long as nobody else commits; in the file for all, up to a mark: what lies prefixEnd it is caught up with when somebody
 * wants to know, and after so many commits.
 */
import type { Finished } from "@pawl/sansio-core";
import type { Connection } from "./connection.ts";
import { integer, optional, text } from "./sql.ts";
import { BloomFilter } from "./bloom-filter.ts";

export interface ScopeRow {
  readonly id: number;
  readonly epoch: number;
  readonly protocol: number;
  /** The last sequence, and the row that holds it. */
  readonly seq: number;
  readonly head: number | undefined;
  readonly appendId: string;
  /** What has finished of it, where that is known of all: it began here. */
  readonly finished?: BloomFilter | undefined;
}

/** Commits after which the mark moves, so that a crash leaves few rows to look through. */
const commitsPerMark = 1000;

/** What has finished and is not in the index, before the mark moves: so many rows are sorted in within 10 ms. */
const finishedPerMark = 4096;

/** Scopes whose scopeRow is in memory: those that appended last. */
const inMemory = 4096;

const finishedKey = (scope: number, kind: string, id: string): string => `${scope} ${kind} ${id}`;

export class ScopeIndex {
  readonly #connection: Connection;
  readonly #known = new Map<string, ScopeRow>();
  /** What has finished prefixEnd the mark, by the number of its scope, kind and id. */
  readonly #finishing = new Map<string, number>();
  #rollbacks = 0;
  #sinceMark = 0;
  #newest = 0;
  #version: unknown;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Writes where each scope stands by now. Inside a transaction. */
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

  /** As the file says, once it is caught up with. Inside a transaction. */
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

  /** Of a scope that appends. Inside a transaction. */
  of(scope: string): ScopeRow | undefined {
    const known = this.#sure.get(scope);
    if (known !== undefined) return known;
    const read = this.read(scope);
    if (read !== undefined) this.keep(scope, read);
    return read;
  }

  /** Of a scope, as this transaction finds it. */
  inTransaction(scope: string): ScopeRow | undefined {
    this.beforeAppends();
    return this.of(scope);
  }

  /** What is in memory of a scope, unless the file is to be caught up with. */
  current(scope: string): ScopeRow | undefined {
    return this.#isMarkDue ? undefined : this.#sure.get(scope);
  }

  /** What is in memory of a scope that nobody has claimed since: whoever does appends what nobody knows of here. */
  unclaimed(scope: string): ScopeRow | undefined {
    const known = this.#sure.get(scope);
    if (known === undefined) return undefined;
    const row = this.#connection.query(() => this.#connection.sql.epoch.get(known.id));
    if (row !== undefined && integer(row, "epoch") === known.epoch) return known;
    this.forget(scope);
    return undefined;
  }

  /** Whether something may have finished in a scope: of one that began here it is known what has not. */
  mayHaveFinished({ id: scope, finished }: ScopeRow, kind: string, id: string): boolean {
    return finished?.mayContain(finishedKey(scope, kind, id)) ?? true;
  }

  /** With which event something finished, if that is prefixEnd the mark. */
  finishing(scope: number, kind: string, id: string): number | undefined {
    return this.#finishing.get(finishedKey(scope, kind, id));
  }

  /** This has finished with an append of a scope. */
  finished({ id: scope, finished }: ScopeRow, all: readonly (Finished & { readonly seq: number })[]): void {
    for (const { kind, id, seq } of all) {
      const name = finishedKey(scope, kind, id);
      this.#finishing.set(name, seq);
      finished?.add(name);
    }
  }

  /** The last row that was appended from here: whoever appends the next has the file as it was then. */
  get newest(): number {
    return this.#newest;
  }

  /** The newest scopeRow of a scope; the one that has not moved for longest makes room. */
  keep(scope: string, scopeRow: ScopeRow): void {
    this.#newest = Math.max(this.#newest, scopeRow.head ?? 0);
    this.#known.delete(scope);
    this.#known.set(scope, scopeRow);
    if (this.#known.size <= inMemory) return;
    const [oldest] = this.#known.keys();
    if (oldest !== undefined) this.#known.delete(oldest);
  }

  forget(scope: string): void {
    this.#known.delete(scope);
  }
  /** Nobody knows what a failed commit left prefixEnd: the file says. */
  forgetAll(): void {
    this.#known.clear();
    this.#finishing.clear();
    this.#newest = 0;
  }
  /** What is known, unless a transaction was rolled back that may have caught up. */
  get #sure(): Map<string, ScopeRow> {
    if (this.#rollbacks !== this.#connection.rollbacks) this.forgetAll();
    this.#rollbacks = this.#connection.rollbacks;
    return this.#known;
  }

  /** What is in memory holds as long as nobody else has committed. Inside the transaction that is to be committed. */
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

/**
 * Where scopes stand. In memory for those that append, as many as a bound says and as long as nobody else commits; in
 * the file for all, up to a mark: the rows behind it are caught up with when somebody wants to know, and after so many
 * commits.
 */
import type { Connection } from "./connection.ts";
import { integer, optional, text } from "./row.ts";

export interface Standing {
  readonly id: number;
  readonly epoch: number;
  readonly protocol: number;
  /** The last sequence, and the row that holds it. */
  readonly seq: number;
  readonly head: number | undefined;
  readonly appendId: string;
}

/** Commits after which the mark moves, so that a crash leaves few rows to look through. */
const commitsPerMark = 1000;

/** Scopes whose standing is in memory: those that appended last. */
const inMemory = 4096;

export class Standings {
  readonly #at: Connection;
  readonly #known = new Map<string, Standing>();
  #sinceMark = 0;
  #newest = 0;
  #version: unknown;

  constructor(at: Connection) {
    this.#at = at;
  }

  /** Writes where each scope stands by now. Inside a transaction. */
  catchUp(): void {
    const { sql } = this.#at;
    const newest = Number(sql.newest.get()?.["id"] ?? 0);
    const mark = Number(sql.mark.get()?.["upto"] ?? 0);
    this.#sinceMark = 0;
    if (newest === mark) return;
    sql.catchUp.run(mark);
    sql.setMark.run(newest);
  }

  /** As the file says, once it is caught up with. Inside a transaction. */
  read(scope: string): Standing | undefined {
    this.catchUp();
    const row = this.#at.sql.standing.get(scope);
    if (row === undefined) return undefined;
    const [id, epoch, protocol, seq] = [
      integer(row, "id"),
      integer(row, "epoch"),
      integer(row, "protocol"),
      integer(row, "seq"),
    ];
    return { id, epoch, protocol, seq, head: optional(integer, row, "head"), appendId: text(row, "appendId") };
  }

  /** Of a scope that appends. Inside a transaction. */
  of(scope: string): Standing | undefined {
    const known = this.#known.get(scope);
    if (known !== undefined) return known;
    const read = this.read(scope);
    if (read !== undefined) this.keep(scope, read);
    return read;
  }

  /** Of a scope, as this transaction finds it. */
  inTransaction(scope: string): Standing | undefined {
    this.beforeAppends();
    return this.of(scope);
  }

  /** What is in memory of a scope, unless the file is to be caught up with. */
  current(scope: string): Standing | undefined {
    return this.#sinceMark >= commitsPerMark ? undefined : this.#known.get(scope);
  }

  /** What a scope in memory is numbered: that never changes. */
  numberOf(scope: string): number | undefined {
    return this.#known.get(scope)?.id;
  }

  /** The last row that was appended from here: whoever appends the next has the file as it was then. */
  get newest(): number {
    return this.#newest;
  }

  /** The newest standing of a scope; the one that has not moved for longest makes room. */
  keep(scope: string, standing: Standing): void {
    this.#newest = Math.max(this.#newest, standing.head ?? 0);
    this.#known.delete(scope);
    this.#known.set(scope, standing);
    if (this.#known.size <= inMemory) return;
    const [oldest] = this.#known.keys();
    if (oldest !== undefined) this.#known.delete(oldest);
  }

  forget(scope: string): void {
    this.#known.delete(scope);
  }
  /** Nobody knows what a failed commit left behind: the file says. */
  forgetAll(): void {
    this.#known.clear();
  }

  /** What is in memory holds as long as nobody else has committed. Inside the transaction that is to be committed. */
  beforeAppends(): void {
    const version = this.#at.sql.dataVersion.get()?.["data_version"];
    if (version !== this.#version) this.forgetAll();
    this.#version = version;
    if (this.#sinceMark >= commitsPerMark) this.catchUp();
  }
  committed(): void {
    this.#sinceMark += 1;
  }
}

/**
 * The scopes that this process has claimed: their numbers, the tokens of their claims, and when they want to be woken.
 *
 * A claim has a random token, which each append compares. Epochs count, and repeat after a failover that lost acknowledged
 * commits or after a restored backup; tokens do not. An append finds its claim by scope and epoch.
 */
import { type Append, BloomFilter } from "@pawl/runtime/driver";
import type { Database, Row, Statement } from "./database.ts";
import { integer, optional, stored, text } from "./database.ts";

export interface Claimed {
  readonly id: number;
  readonly epoch: number;
  readonly token: string;
  /** The wake time in the database. It is never later than the one that is wanted. */
  storedWake: number | undefined;
  /** The wake time that the newest append wants. */
  wantedWake: number | undefined;
  seq: number;
  /** The ids of all that has finished, if they came along: most questions need no answer from the database. */
  readonly finished: BloomFilter | undefined;
}

const filterOf = (row: Row): BloomFilter | undefined => {
  const names = optional(text, row, "finished");
  if (names === undefined) return undefined;
  const filter = new BloomFilter();
  for (const name of JSON.parse(names) as readonly string[]) filter.add(name);
  return filter;
};

/** Names what has finished as the filters do. */
export const finishedName = (kind: string, id: string): string => `${kind} ${stored(id)}`;

const idOf = (s: string): Statement => ({
  name: "pawl_id",
  text: `SELECT id, epoch, seq, wake_at FROM ${s}.scope WHERE name = $1`,
});

/** A later wake time costs an index entry, so it is told for many scopes together. */
const tellLater = (s: string): Statement => ({
  name: "pawl_rest",
  text: `UPDATE ${s}.scope x SET wake_at = r.w FROM json_to_recordset($1::json) AS r(s bigint, t text, q bigint, w bigint)
    WHERE x.id = r.s AND x.token = r.t AND x.seq = r.q`,
});

/** The time after which later wake times are told. A crash in it opens scopes at rest once, in vain. */
const restMs = 1000;
/** A plain timer's most: more scopes than this are told at once. */
const mostUntold = 4096;

export class Scopes {
  readonly #database: Database;
  readonly #idOf: Statement;
  readonly #tellLater: Statement;
  readonly #claimed = new Map<string, Claimed>();
  #untold = new Set<Claimed>();
  #timer: NodeJS.Timeout | undefined;
  #telling: Promise<void> = Promise.resolve();

  constructor(database: Database, schema: string) {
    this.#database = database;
    this.#idOf = idOf(schema);
    this.#tellLater = tellLater(schema);
  }

  keep(scope: string, row: Row, token: string): void {
    const wake = optional(integer, row, "wake_at");
    const [id, epoch, seq] = [integer(row, "id"), integer(row, "epoch"), integer(row, "seq")];
    this.forget(scope);
    this.#claimed.set(scope, { id, epoch, token, storedWake: wake, wantedWake: wake, seq, finished: filterOf(row) });
  }

  forget(scope: string): void {
    const before = this.#claimed.get(scope);
    if (before !== undefined) this.#untold.delete(before);
    this.#claimed.delete(scope);
  }

  /** Returns the claim of this process on a scope, if it has the epoch. */
  at(scope: string, epoch: number): Claimed | undefined {
    const claimed = this.#claimed.get(scope);
    return claimed?.epoch === epoch ? claimed : undefined;
  }

  /** Returns the newest claim of this process on a scope. */
  claimOf(scope: string): Claimed | undefined {
    return this.#claimed.get(scope);
  }

  /** Returns the number of a scope, claimed here or not. */
  async idOf(scope: string): Promise<number | undefined> {
    const known = this.#claimed.get(scope)?.id;
    if (known !== undefined) return known;
    const [row] = await this.#database.query(this.#idOf, [stored(scope)]);
    return row === undefined ? undefined : integer(row, "id");
  }

  /** Tells whether something has certainly not finished in a scope that is claimed here. */
  hasNot(scope: string, kind: string, id: string): boolean {
    return this.#claimed.get(scope)?.finished?.mayContain(finishedName(kind, id)) === false;
  }

  /** Takes note of an append that was stored. */
  appended(claimed: Claimed, { finished }: Pick<Append, "finished">, seq: number, wakeAt: number | undefined): void {
    for (const { kind, id } of finished) claimed.finished?.add(finishedName(kind, id));
    claimed.seq = seq;
    claimed.wantedWake = wakeAt;
    if (wakeAt !== undefined && (claimed.storedWake === undefined || wakeAt < claimed.storedWake))
      claimed.storedWake = wakeAt;
    if (claimed.storedWake === wakeAt) this.#untold.delete(claimed);
    else this.#remember(claimed);
  }

  #remember(claimed: Claimed): void {
    this.#untold.add(claimed);
    if (this.#untold.size >= mostUntold) void this.tell();
    else this.#timer ??= setTimeout(() => void this.tell(), restMs).unref();
  }

  /** Stores the wake times that are later than the stored ones. One that fails is told with the scope's next append. */
  tell(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#telling = this.#telling.then(() => this.#tellAll());
    return this.#telling;
  }

  async #tellAll(): Promise<void> {
    const untold = [...this.#untold];
    this.#untold = new Set();
    if (untold.length === 0) return;
    const told = untold.map((claimed) => ({ claimed, seq: claimed.seq, wake: claimed.wantedWake }));
    const rows = told.map(({ claimed: { id, token }, seq, wake }) => ({ s: id, t: token, q: seq, w: wake ?? null }));
    try {
      await this.#database.query(this.#tellLater, [JSON.stringify(rows)]);
    } catch {
      for (const { claimed } of told) this.#untold.add(claimed); // Waking a scope too early is in vain, and no more.
      return;
    }
    for (const { claimed, seq, wake } of told) if (claimed.seq === seq) claimed.storedWake = wake;
  }

  async close(): Promise<void> {
    await this.tell();
    clearTimeout(this.#timer);
  }
}

/**
 * The log of the one scope of an object. The object is the only writer, so the head of the log is read once and kept in memory:
 * an append is judged without a read, and writes one row.
 */
import type { Append, AppendResult, Claim, Holding, JournalLine, NotWritten, Snapshot } from "@pawl/runtime/driver";
import type { Mail } from "./mail.ts";
import type { Row, Tables } from "./table.ts";

interface ScopeRow extends Row {
  readonly name: string;
  readonly epoch: number;
  readonly owner: string | null;
  readonly protocol: number;
  readonly approvals: number;
  readonly released: number | null;
  readonly base: number;
  readonly wake_at: number | null;
  readonly root: string | null;
}

interface AppendRow extends Row {
  readonly first: number;
  readonly last: number;
  readonly append_id: string;
  readonly wake_at: number | null;
  readonly lines: string;
}

/** Names the row of an append, for the pieces that it cannot hold. */
const rowOf = (first: number): string => `append ${first}`;

/** Cuts the text of an append into its lines: each ends with a line feed, and has no other. */
const linesOf = (text: string, first: number): readonly JournalLine[] =>
  text
    .split("\n")
    .slice(0, -1)
    .map((line, i) => ({ seq: first + i, line: `${line}\n` }));

const textOf = (lines: readonly JournalLine[]): string => lines.map(({ line }) => line).join("");

interface SnapshotRow extends Row {
  readonly seq: number;
  readonly text: string;
}

export class ScopeLog {
  readonly name: string;
  readonly #tables: Tables;
  readonly #mail: Mail;
  #epoch: number;
  #owner: string | null;
  #protocol: number;
  #approvals: number;
  #released: number | null;
  #base: number;
  #seq: number;
  #wakeAt: number | null;

  constructor(tables: Tables, mail: Mail, name: string) {
    this.name = name;
    this.#tables = tables;
    this.#mail = mail;
    tables.exec(
      `INSERT INTO scope (one, name, epoch, protocol, approvals, base) VALUES (1, ?, 0, 0, 0, 0)
        ON CONFLICT (one) DO NOTHING`,
      name,
    );
    const [row] = tables.read<ScopeRow>("scope", "");
    if (row?.name !== name) throw new Error(`this object holds ${String(row?.name)}: expected ${name}`);
    this.#epoch = row.epoch;
    this.#owner = row.owner;
    this.#protocol = row.protocol;
    this.#approvals = row.approvals;
    this.#released = row.released;
    this.#base = row.base;
    const [last] = tables.read<AppendRow>("append", "ORDER BY first DESC LIMIT 1");
    this.#seq = last?.last ?? row.base;
    this.#wakeAt = last === undefined ? row.wake_at : last.wake_at;
  }

  get seq(): number {
    return this.#seq;
  }
  /** The last sequence whose line retention has deleted or kept aside. */
  get base(): number {
    return this.#base;
  }
  get wakeAt(): number | undefined {
    return this.#wakeAt ?? undefined;
  }
  get epoch(): number {
    return this.#epoch;
  }
  get owner(): string | undefined {
    return this.#owner ?? undefined;
  }
  get approvals(): number {
    return this.#approvals;
  }

  /** Returns the secret that tokens of the scope are signed under: it is made when it is first asked for. */
  root(make: () => string): string {
    const [row] = this.#tables.read<ScopeRow>("scope", "");
    if (typeof row?.root === "string") return row.root;
    const made = make();
    this.#tables.exec(`UPDATE scope SET root = ?`, made);
    return made;
  }

  /** Returns the refusal of a writer that does not own the scope. */
  fenced(epoch: number): NotWritten | undefined {
    return epoch === this.#epoch && epoch > 0 ? undefined : { type: "fenced", epoch: this.#epoch };
  }

  get #holding(): Holding {
    const [row] = this.#tables.read<SnapshotRow>("snapshot", "");
    const snapshot: Snapshot | undefined = row && { seq: row.seq, text: this.#tables.whole("snapshot", row.text) };
    return { epoch: this.#epoch, seq: this.#seq, ...(snapshot === undefined ? {} : { snapshot }) };
  }

  claim(instance: string, protocol: number, above: number): Claim {
    if (this.#protocol > protocol) return { type: "newer_protocol", protocol: this.#protocol };
    const epoch = Math.max(this.#epoch, above) + 1;
    this.#tables.exec(`UPDATE scope SET epoch = ?, owner = ?`, epoch, instance);
    this.#epoch = epoch;
    this.#owner = instance;
    if (this.#seq === 0) return { type: "claimed", ...this.#holding };
    return { type: "claimed", lastOwner: this.#released === this.#seq ? "released" : "lost", ...this.#holding };
  }

  load(instance: string): Holding | undefined {
    return this.#owner === instance ? this.#holding : undefined;
  }

  release(instance: string): void {
    if (this.#owner !== instance) return;
    this.#tables.exec(`UPDATE scope SET owner = NULL, released = ?`, this.#seq);
    this.#owner = null;
    this.#released = this.#seq;
  }

  /** Ends the ownership of an instance without a release. */
  leave(instance: string): void {
    if (this.#owner !== instance) return;
    this.#tables.exec(`UPDATE scope SET owner = NULL`);
    this.#owner = null;
  }

  /** Returns the result of an append that is refused or there already; undefined if it follows. */
  #judge({ epoch, appendId, expectedSeq }: Append): AppendResult | undefined {
    const fenced = this.fenced(epoch);
    if (fenced !== undefined) return fenced;
    if (expectedSeq === this.#seq + 1) return undefined;
    const [there] = this.#tables.read<AppendRow>("append", "WHERE first = ?", expectedSeq);
    return there?.append_id === appendId ? { type: "ok" } : { type: "conflict", seq: this.#seq };
  }

  append(append: Append): AppendResult {
    const judged = this.#judge(append);
    if (judged !== undefined) return judged;
    this.#tables.atOnce(() => this.#write(append));
    const { lines, wakeAt, approvals = this.#approvals, protocol } = append;
    if (lines.length === 0) return { type: "ok" };
    this.#seq += lines.length;
    this.#wakeAt = wakeAt ?? null;
    this.#approvals = approvals;
    this.#protocol = protocol;
    return { type: "ok" };
  }

  #write({ appendId, lines, finished, wakeAt, protocol, messages, received, ...more }: Append): void {
    const { approvals = this.#approvals } = more;
    for (const id of received) this.#mail.remove(id);
    for (const message of messages) this.#mail.send(this.name, message);
    if (lines.length === 0) return;
    const first = this.#seq + 1;
    const head = this.#tables.cut(rowOf(first), textOf(lines));
    const last = this.#seq + lines.length;
    this.#tables.exec(`INSERT INTO append VALUES (?, ?, ?, ?, ?)`, first, last, appendId, wakeAt ?? null, head);
    for (const { kind, id, seq } of finished)
      this.#tables.exec(`INSERT OR REPLACE INTO finished VALUES (?, ?, ?)`, kind, id, seq);
    if (approvals !== this.#approvals || protocol !== this.#protocol)
      this.#tables.exec(`UPDATE scope SET approvals = ?, protocol = ?`, approvals, protocol);
  }

  /** Reads the appends that hold lines from one sequence to another. */
  appends(from: number, to: number): readonly { readonly last: number; readonly lines: readonly JournalLine[] }[] {
    const [start] = this.#tables.exec<{ first: number | null }>(
      `SELECT max(first) AS first FROM append WHERE first <= ?`,
      from,
    );
    const rows = this.#tables.read<AppendRow>(
      "append",
      "WHERE first >= ? AND first <= ? ORDER BY first",
      start?.first ?? 0,
      Math.min(to, Number.MAX_SAFE_INTEGER),
    );
    return rows.map(({ first, last, lines }) => ({
      last,
      lines: linesOf(this.#tables.whole(rowOf(first), lines), first),
    }));
  }

  read(from: number, to: number): readonly JournalLine[] {
    const kept = this.#tables
      .read<{ seq: number; line: string }>("kept", "WHERE seq >= ? ORDER BY seq", from)
      .map(({ seq, line }) => ({ seq, line: this.#tables.whole(`kept ${seq}`, line) }));
    const own = this.appends(from, to).flatMap(({ lines }) => lines);
    return [...kept, ...own].filter(({ seq }) => seq >= from && seq <= to);
  }

  find(kind: string, id: string): number | undefined {
    return this.#tables.read<{ seq: number }>("finished", "WHERE kind = ? AND id = ?", kind, id)[0]?.seq;
  }

  /** Deletes the lines up to a sequence that ends an append, except some. Runs within a transaction. */
  drop(base: number, keep: ReadonlySet<number>): void {
    for (const { seq, line } of this.read(1, base)) {
      if (keep.has(seq)) {
        this.#tables.need("kept");
        const head = this.#tables.cut(`kept ${seq}`, line);
        this.#tables.exec(`INSERT OR REPLACE INTO kept VALUES (?, ?)`, seq, head);
      } else {
        this.#tables.remove("kept", "WHERE seq = ?", seq);
        this.#tables.remove("rest", "WHERE owner = ?", `kept ${seq}`);
      }
    }
    for (const { first } of this.#tables.read<AppendRow>("append", "WHERE last <= ?", base))
      this.#tables.remove("rest", "WHERE owner = ?", rowOf(first));
    this.#tables.remove("append", "WHERE last <= ?", base);
    this.#tables.exec(`UPDATE scope SET base = ?, wake_at = ?`, base, this.#wakeAt);
  }

  /** Takes note of a `drop` that has been committed. */
  dropped(base: number): void {
    this.#base = base;
  }
}

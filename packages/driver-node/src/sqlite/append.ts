/**
 * Appends: one row each, and one commit for a group (group commit). A single append is one statement that commits by
 * itself.
 */
import type { Append, AppendResult } from "@pawl/runtime/driver";
import { Checkpoints } from "./checkpoint.ts";
import type { Connection } from "./connection.ts";
import { failure } from "./file-error.ts";
import { appendsBackwards } from "./lines.ts";
import { text } from "./sql.ts";
import type { ScopeRow, ScopeIndex } from "./scope-index.ts";
import { commitsToFullLength, preallocateWal } from "./wal.ts";

const textOf = ({ lines }: Append): string => {
  let whole = "";
  for (const { line } of lines) whole += line;
  return whole;
};

/** Encodes what finished with an append, for its row. */
const finishedOf = ({ finished }: Append): string | null =>
  finished.length === 0 ? null : JSON.stringify(finished.map(({ kind, id, seq }) => [kind, id, seq]));

/** Tells whether an append writes nothing but its row, judging by the cached row of its scope. */
const isPlainAppend = (append: Append, at: ScopeRow): boolean => {
  const { epoch, expectedSeq, lines, messages, received, approvals, protocol } = append;
  return (
    epoch === at.epoch &&
    expectedSeq === at.seq + 1 &&
    protocol === at.protocol &&
    approvals === undefined &&
    lines.length > 0 &&
    messages.length + received.length === 0
  );
};

export class Appender {
  readonly #connection: Connection;
  readonly #index: ScopeIndex;
  readonly #checkpoints: Checkpoints;
  #commits = 0;

  constructor(connection: Connection, index: ScopeIndex) {
    this.#connection = connection;
    this.#index = index;
    this.#checkpoints = new Checkpoints(connection);
  }

  /** Stops the checkpoint thread. */
  close(): Promise<void> {
    return this.#checkpoints.close();
  }

  appendAll(appends: readonly Append[]): readonly AppendResult[] {
    const [first] = appends;
    const isWalDue = (this.#commits += 1) === commitsToFullLength;
    const { isStepDue } = this.#checkpoints;
    if (first !== undefined && appends.length === 1 && !isWalDue && !isStepDue) {
      const single = this.#appendSingle(first);
      if (single !== undefined) return [single];
    }
    try {
      const results = this.#connection.transact(() => {
        if (isWalDue) preallocateWal(this.#connection.file);
        if (isStepDue) this.#checkpoints.step();
        this.#index.beforeAppends();
        return appends.map((append) => this.#append(append));
      });
      this.#committed(appends);
      return results;
    } catch (thrown) {
      return appends.map(() => failure(thrown, this.#connection.file));
    }
  }

  #committed(appends: readonly Append[]): void {
    this.#index.committed();
    let characters = 0;
    for (const { lines } of appends) for (const { line } of lines) characters += line.length;
    this.#checkpoints.committed(characters);
  }

  /**
   * Appends with one statement, which checks the epoch and that nobody else has appended. If it writes nothing, the
   * caller has to find out why.
   */
  #appendSingle(append: Append): AppendResult | undefined {
    const scopeRow = this.#index.current(append.scope);
    if (scopeRow === undefined || !isPlainAppend(append, scopeRow)) return undefined;
    const { expectedSeq, appendId, wakeAt = null, lines } = append;
    const { id, head = null, epoch } = scopeRow;
    const row = this.#index.newest + 1;
    const last = expectedSeq + lines.length - 1;
    const { appendAlone } = this.#connection.sql;
    try {
      const { changes } = this.#connection.query(() =>
        appendAlone.run(row, head, expectedSeq, last, appendId, wakeAt, textOf(append), finishedOf(append), id, epoch),
      );
      if (changes !== 1) return undefined;
    } catch (thrown) {
      this.#index.forgetAll();
      return failure(thrown, this.#connection.file);
    }
    this.#index.finished(scopeRow, append.finished);
    this.#index.keep(append.scope, { ...scopeRow, seq: last, head: row, appendId });
    this.#committed([append]);
    return { type: "ok" };
  }

  /** Tells whether the append was written already, so that only its acknowledgement was lost. */
  #isAlreadyWritten({ appendId, expectedSeq }: Append, { head }: ScopeRow): boolean {
    const place = [...appendsBackwards(this.#connection, head, expectedSeq)].at(-1);
    return (
      place?.first === expectedSeq && text(this.#connection.sql.appendId.get(place.row) ?? {}, "append_id") === appendId
    );
  }

  /**
   * Writes an append in a transaction. The index entries that it sets are valid once the transaction commits, and are
   * dropped if it rolls back.
   */
  #append(append: Append): AppendResult {
    const scopeRow = this.#index.of(append.scope);
    const epoch = scopeRow?.epoch ?? 0;
    if (scopeRow === undefined || epoch === 0 || append.epoch !== epoch) return { type: "fenced", epoch };
    if (append.expectedSeq !== scopeRow.seq + 1)
      return this.#isAlreadyWritten(append, scopeRow) ? { type: "ok" } : { type: "conflict", seq: scopeRow.seq };
    this.#write(append, scopeRow);
    return { type: "ok" };
  }

  #write(append: Append, scopeRow: ScopeRow): void {
    const { id, head = null } = scopeRow;
    this.#exchangeMessages(append, id);
    if (append.lines.length === 0) return;
    const { sql } = this.#connection;
    const { appendId, expectedSeq, wakeAt = null, approvals, protocol } = append;
    const last = expectedSeq + append.lines.length - 1;
    const [lines, finished] = [textOf(append), finishedOf(append)];
    const { lastInsertRowid } = sql.append.run(id, head, expectedSeq, last, appendId, wakeAt, lines, finished);
    this.#index.finished(scopeRow, append.finished);
    if (protocol !== scopeRow.protocol) sql.protocol.run(protocol, id);
    if (approvals !== undefined) sql.approvals.run(approvals, id);
    this.#index.keep(append.scope, { ...scopeRow, protocol, seq: last, head: Number(lastInsertRowid), appendId });
  }

  /** Puts outgoing messages into other scopes' inboxes and deletes received ones from its own. */
  #exchangeMessages({ scope, messages, received }: Append, id: number): void {
    const { sql } = this.#connection;
    for (const { to, kind, link, number, text: body } of messages) {
      sql.make.run(to);
      sql.send.run(to, scope, kind, link, number, body);
    }
    for (const { from, kind, link, number } of received) sql.receive.run(id, from, kind, link, number);
  }
}

/** Appends: one row each, all of a group in one commit. One that goes alone is a commit by itself. */
import type { Append, AppendResult } from "@pawl/runtime";
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

/** What finished with an append, as its row has it. */
const finishedOf = ({ finished }: Append): string | null =>
  finished.length === 0 ? null : JSON.stringify(finished.map(({ kind, id, seq }) => [kind, id, seq]));

/** Whether nothing but its row is to be written, where the scope is believed to stand. */
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

  /** Lets go of what works beside it. */
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
   * One statement, if it says all: it compares the epoch, and whether anybody else has appended since, as it writes.
   * Where it writes nothing, the file has to be asked why.
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

  /** Whether an append stands among the scope's rows: its acknowledgement was lost. */
  #isAlreadyWritten({ appendId, expectedSeq }: Append, { head }: ScopeRow): boolean {
    const place = [...appendsBackwards(this.#connection, head, expectedSeq)].at(-1);
    return (
      place?.first === expectedSeq && text(this.#connection.sql.appendId.get(place.row) ?? {}, "append_id") === appendId
    );
  }

  /** What is written; the index that follow from it hold once it is committed, and are forgotten if it is not. */
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

  /** Letters into the inboxes of others, and those out of its own that are done with. */
  #exchangeMessages({ scope, messages, received }: Append, id: number): void {
    const { sql } = this.#connection;
    for (const { to, kind, link, number, text: body } of messages) {
      sql.make.run(to);
      sql.send.run(to, scope, kind, link, number, body);
    }
    for (const { from, kind, link, number } of received) sql.receive.run(id, from, kind, link, number);
  }
}

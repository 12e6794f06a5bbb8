/** Appends: one row each, all of a group in one commit. One that goes alone is a commit by itself. */
import type { Append, AppendResult } from "@pawl/runtime";
import { Checkpoints } from "./checkpoint.ts";
import type { Connection } from "./connection.ts";
import { failure } from "./failure.ts";
import { placesBack } from "./lines.ts";
import { text } from "./row.ts";
import type { Standing, Standings } from "./standing.ts";
import { commitsToFullLength, fillWal } from "./wal.ts";

const textOf = ({ lines }: Append): string => {
  let whole = "";
  for (const { line } of lines) whole += line;
  return whole;
};

/** What finished with an append, as its row has it. */
const finishedOf = ({ finished }: Append): string | null =>
  finished.length === 0 ? null : JSON.stringify(finished.map(({ kind, id, seq }) => [kind, id, seq]));

/** Whether nothing but its row is to be written, where the scope is believed to stand. */
const isPlain = (append: Append, at: Standing): boolean => {
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
  readonly #at: Connection;
  readonly #standings: Standings;
  readonly #checkpoints: Checkpoints;
  #commits = 0;

  constructor(at: Connection, standings: Standings) {
    this.#at = at;
    this.#standings = standings;
    this.#checkpoints = new Checkpoints(at);
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
      const alone = this.#appendAlone(first);
      if (alone !== undefined) return [alone];
    }
    try {
      const results = this.#at.transact(() => {
        if (isWalDue) fillWal(this.#at.file);
        if (isStepDue) this.#checkpoints.step();
        this.#standings.beforeAppends();
        return appends.map((append) => this.#append(append));
      });
      this.#committed(appends);
      return results;
    } catch (thrown) {
      return appends.map(() => failure(thrown, this.#at.file));
    }
  }

  #committed(appends: readonly Append[]): void {
    this.#standings.committed();
    let characters = 0;
    for (const { lines } of appends) for (const { line } of lines) characters += line.length;
    this.#checkpoints.committed(characters);
  }

  /**
   * One statement, if it says all: it compares the epoch, and whether anybody else has appended since, as it writes.
   * Where it writes nothing, the file has to be asked why.
   */
  #appendAlone(append: Append): AppendResult | undefined {
    const standing = this.#standings.current(append.scope);
    if (standing === undefined || !isPlain(append, standing)) return undefined;
    const { expectedSeq, appendId, wakeAt = null, lines } = append;
    const { id, head = null, epoch } = standing;
    const row = this.#standings.newest + 1;
    const last = expectedSeq + lines.length - 1;
    const { appendAlone } = this.#at.sql;
    try {
      const { changes } = this.#at.ask(() =>
        appendAlone.run(row, head, expectedSeq, last, appendId, wakeAt, textOf(append), finishedOf(append), id, epoch),
      );
      if (changes !== 1) return undefined;
    } catch (thrown) {
      this.#standings.forgetAll();
      return failure(thrown, this.#at.file);
    }
    this.#standings.finished(standing, append.finished);
    this.#standings.keep(append.scope, { ...standing, seq: last, head: row, appendId });
    this.#committed([append]);
    return { type: "ok" };
  }

  /** Whether an append stands among the scope's rows: its acknowledgement was lost. */
  #isThere({ appendId, expectedSeq }: Append, { head }: Standing): boolean {
    const place = [...placesBack(this.#at, head, expectedSeq)].at(-1);
    return place?.first === expectedSeq && text(this.#at.sql.appendId.get(place.row) ?? {}, "append_id") === appendId;
  }

  /** What is written; the standings that follow from it hold once it is committed, and are forgotten if it is not. */
  #append(append: Append): AppendResult {
    const standing = this.#standings.of(append.scope);
    const epoch = standing?.epoch ?? 0;
    if (standing === undefined || epoch === 0 || append.epoch !== epoch) return { type: "fenced", epoch };
    if (append.expectedSeq !== standing.seq + 1)
      return this.#isThere(append, standing) ? { type: "ok" } : { type: "conflict", seq: standing.seq };
    this.#write(append, standing);
    return { type: "ok" };
  }

  #write(append: Append, standing: Standing): void {
    const { id, head = null } = standing;
    this.#carry(append, id);
    if (append.lines.length === 0) return;
    const { sql } = this.#at;
    const { appendId, expectedSeq, wakeAt = null, approvals, protocol } = append;
    const last = expectedSeq + append.lines.length - 1;
    const [lines, finished] = [textOf(append), finishedOf(append)];
    const { lastInsertRowid } = sql.append.run(id, head, expectedSeq, last, appendId, wakeAt, lines, finished);
    this.#standings.finished(standing, append.finished);
    if (protocol !== standing.protocol) sql.protocol.run(protocol, id);
    if (approvals !== undefined) sql.approvals.run(approvals, id);
    this.#standings.keep(append.scope, { ...standing, protocol, seq: last, head: Number(lastInsertRowid), appendId });
  }

  /** Letters into the inboxes of others, and those out of its own that are done with. */
  #carry({ scope, messages, received }: Append, id: number): void {
    const { sql } = this.#at;
    for (const { to, kind, link, number, text: letter } of messages) {
      sql.make.run(to);
      sql.send.run(to, scope, kind, link, number, letter);
    }
    for (const { from, kind, link, number } of received) sql.receive.run(id, from, kind, link, number);
  }
}

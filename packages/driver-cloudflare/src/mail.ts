/**
 * The mail of an object: letters to its scope, and letters of its scope to others, which lie in the outbox until their target has
 * taken them. A letter is in one of the two from the append that sends it on, and never in neither.
 *
 * A letter that replaces another takes a new id and the other's place: so a late acknowledgement cannot delete the newer text, and
 * letters leave in the order in which they were first sent.
 */
import type { InboxMessage, InboxMessageId, OutboxMessage } from "@pawl/runtime/driver";
import type { Row, Tables } from "./table.ts";

interface LetterRow extends Row {
  readonly id: number;
  readonly place: number;
  readonly kind: string;
  readonly link: number;
  readonly number: number;
  readonly text: string;
}

/** A letter on its way to another object. */
export interface OutLetter extends InboxMessageId {
  readonly id: number;
  readonly text: string;
}

/** Letters that are sent at once, and the UTF-16 units of their texts after which no more are added. */
const lettersAtOnce = 64;
const unitsAtOnce = 4_000_000;

const kindOf = (kind: string): InboxMessageId["kind"] => (kind === "answer" ? "answer" : "message");

export class Mail {
  readonly #tables: Tables;
  #lastId: number;

  constructor(tables: Tables) {
    this.#tables = tables;
    this.#lastId = tables.read<LetterRow>("outbox", "ORDER BY id DESC LIMIT 1")[0]?.id ?? 0;
  }

  /** Puts a letter into the outbox, or the scope's own inbox. Runs within the transaction of its append. */
  send(from: string, { to, ...letter }: OutboxMessage): void {
    if (to === from) return this.#receive({ from, ...letter });
    const { kind, link, number, text } = letter;
    this.#lastId += 1;
    this.#tables.need("outbox");
    const replaced = this.#tables.read<LetterRow>(
      "outbox",
      "WHERE target = ? AND kind = ? AND link = ? AND number = ?",
      to,
      kind,
      link,
      number,
    );
    for (const { id } of replaced) this.#discard(id);
    const place = replaced[0]?.place ?? this.#lastId;
    const head = this.#tables.cut(`outbox ${this.#lastId}`, text);
    this.#tables.exec(
      `INSERT INTO outbox (id, place, target, kind, link, number, text) VALUES (?, ?, ?, ?, ?, ?, ?)`,
      this.#lastId,
      place,
      to,
      kind,
      link,
      number,
      head,
    );
  }

  #discard(id: number): void {
    this.#tables.remove("rest", "WHERE owner = ?", `outbox ${id}`);
    this.#tables.remove("outbox", "WHERE id = ?", id);
  }

  #receive({ from, kind, link, number, text }: InboxMessage): void {
    this.#tables.need("inbox");
    const head = this.#tables.cut(`inbox ${kind} ${link} ${number} ${from}`, text);
    this.#tables.exec(
      `INSERT INTO inbox (source, kind, link, number, text) VALUES (?, ?, ?, ?, ?)
        ON CONFLICT (source, kind, link, number) DO UPDATE SET text = excluded.text`,
      from,
      kind,
      link,
      number,
      head,
    );
  }

  /** Puts letters of another scope into the inbox, in one transaction. */
  deliver(from: string, letters: readonly Omit<InboxMessage, "from">[]): void {
    this.#tables.atOnce(() => {
      for (const letter of letters) this.#receive({ from, ...letter });
    });
  }

  /** Removes a letter that was received. Runs within the transaction of its append. */
  remove({ from, kind, link, number }: InboxMessageId & { readonly from: string }): void {
    this.#tables.remove("rest", "WHERE owner = ?", `inbox ${kind} ${link} ${number} ${from}`);
    this.#tables.remove("inbox", "WHERE source = ? AND kind = ? AND link = ? AND number = ?", from, kind, link, number);
  }

  inbox(): readonly InboxMessage[] {
    return this.#tables
      .read<LetterRow & { readonly source: string }>("inbox", "ORDER BY id")
      .map(({ source: from, kind, link, number, text }) => {
        const whole = this.#tables.whole(`inbox ${kind} ${link} ${number} ${from}`, text);
        return { from, kind: kindOf(kind), link, number, text: whole };
      });
  }

  get hasMail(): boolean {
    return this.#tables.read("inbox", "LIMIT 1").length > 0;
  }

  /** Lists the scopes that letters wait for. */
  targets(): readonly string[] {
    if (!this.#tables.has("outbox")) return [];
    return this.#tables
      .exec<{ target: string }>(`SELECT target FROM outbox GROUP BY target ORDER BY min(place)`)
      .map(({ target }) => target);
  }

  /** Reads the oldest letters to a scope, in the order in which they were sent: as many as are sent at once. */
  letters(to: string): readonly OutLetter[] {
    const rows = this.#tables.read<LetterRow>("outbox", `WHERE target = ? ORDER BY place LIMIT ${lettersAtOnce}`, to);
    const letters: OutLetter[] = [];
    let units = 0;
    for (const { id, kind, link, number, text: head } of rows) {
      const text = this.#tables.whole(`outbox ${id}`, head);
      letters.push({ id, kind: kindOf(kind), link, number, text });
      units += text.length;
      if (units > unitsAtOnce) break;
    }
    return letters;
  }

  /** Deletes letters that their target has. */
  sent(letters: readonly OutLetter[]): void {
    this.#tables.atOnce(() => {
      for (const { id } of letters) this.#discard(id);
    });
  }
}

/**
 * Remembers the latest appends that the store has acknowledged: clients may have heard of them. A failover to a standby that lags loses
 * some, and then the database has no row with their ids. Those are written into the database, for `pawl doctor`.
 *
 * The list is looked up when the connection that listens was broken, as it is by a failover, and when an append is refused. What
 * is older than a minute, or beyond a number, is not kept: a standby that lags by more than that is not reported.
 */
import type { Append } from "@pawl/runtime/driver";
import { type Database, type Row, type Statement, integer, named, nameIn, stored, text } from "./database.ts";

/** A request that a client was told of, and that the database does not have any more. */
export interface LostRequest {
  readonly scope: string;
  readonly request: string;
  /** `submitted`: that it was taken. `answered`: its reply, which was acknowledged. */
  readonly what: "submitted" | "answered";
  /** The last event of the append that is gone. */
  readonly seq: number;
  /** When that was found, in milliseconds. */
  readonly at: number;
}

export const acknowledgedTable = (s: string): string => `
CREATE TABLE ${s}.lost_request (
  scope text COLLATE "C" NOT NULL, request text COLLATE "C" NOT NULL, what text NOT NULL, append_id text NOT NULL,
  seq bigint NOT NULL, at bigint NOT NULL, PRIMARY KEY (scope, request, what, append_id)
);
`;

const keptMs = 60_000;
const mostKept = 20_000;

const statements = (s: string): { readonly [K in "note" | "list"]: Statement } => ({
  note: named(
    "lost_note",
    `WITH told AS (SELECT * FROM json_to_recordset($1::json) AS e(n text, l bigint, k text, r text, w text)),
     gone AS (
       SELECT t.* FROM told t LEFT JOIN ${s}.scope x ON x.name = t.n
       WHERE NOT EXISTS (SELECT 1 FROM ${s}.append a WHERE a.scope = x.id AND a.last = t.l AND a.append_id = t.k)
         AND NOT EXISTS (SELECT 1 FROM ${s}.segment g WHERE g.scope = x.id AND g.base >= t.l))
     INSERT INTO ${s}.lost_request (scope, request, what, append_id, seq, at)
     SELECT n, r, w, k, l, ${s}.clock(NULL) FROM gone ON CONFLICT DO NOTHING RETURNING scope, request, what, seq, at`,
  ),
  list: named(
    "lost_list",
    `SELECT scope, request, what, seq, at FROM ${s}.lost_request ORDER BY at, scope, seq, request`,
  ),
});

interface Kept {
  readonly until: number;
  readonly n: string;
  readonly l: number;
  readonly k: string;
  readonly r: string;
  readonly w: LostRequest["what"];
}

/** The event stands at the beginning of its line: what follows is not searched. */
const headLength = 400;
const submitted = /"event":\{"type":"(?:request|flow|turn)\.submitted","request":("(?:[^"\\]|\\.)*")/;

const requestIn = (line: string): string | undefined => {
  if (!line.slice(0, headLength).includes('.submitted"')) return undefined;
  const [, request] = submitted.exec(line.slice(0, headLength)) ?? [];
  return request === undefined ? undefined : String(JSON.parse(request));
};

const lostOf = (row: Row): LostRequest => ({
  scope: nameIn(row, "scope"),
  request: nameIn(row, "request"),
  what: text(row, "what") === "answered" ? "answered" : "submitted",
  seq: integer(row, "seq"),
  at: integer(row, "at"),
});

export class Acknowledged {
  readonly #database: Database;
  readonly #sql: ReturnType<typeof statements>;
  #kept: Kept[] = [];
  #looking: Promise<void> | undefined;

  constructor(database: Database, schema: string) {
    this.#database = database;
    this.#sql = statements(schema);
  }

  /** Takes note of an append that is about to be acknowledged: of the requests that it takes or ends. */
  note({ scope, lines, finished }: Append, id: string, last: number): void {
    const add = (r: string, w: Kept["w"]): void =>
      void this.#kept.push({ until: performance.now() + keptMs, n: stored(scope), l: last, k: id, r: stored(r), w });
    for (const { line } of lines) {
      const request = requestIn(line);
      if (request !== undefined) add(request, "submitted");
    }
    for (const { kind, id: request } of finished) if (kind === "request") add(request, "answered");
    if (this.#kept.length > 2 * mostKept) this.#kept = this.#kept.slice(-mostKept);
  }

  /** Looks whether the database still has what was acknowledged. One look at a time: what fails is looked at with the next. */
  look(): Promise<void> {
    this.#looking ??= this.#look().finally(() => (this.#looking = undefined));
    return this.#looking;
  }

  async #look(): Promise<void> {
    const now = performance.now();
    this.#kept = this.#kept.filter(({ until }) => until > now);
    if (this.#kept.length === 0) return;
    const told = this.#kept.map(({ n, l, k, r, w }) => ({ n, l, k, r, w }));
    await this.#database.query(this.#sql.note, [JSON.stringify(told)]).catch(() => undefined); // The server is away still.
  }

  /** Lists what hosts have found to be lost, the oldest first. */
  async lost(): Promise<readonly LostRequest[]> {
    return (await this.#database.query(this.#sql.list, [])).map(lostOf);
  }
}

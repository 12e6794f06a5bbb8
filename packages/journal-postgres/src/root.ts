/** The root secrets, which sign wait tokens. All hosts on the database share them. */
import { createHash, randomBytes } from "node:crypto";
import type { Roots } from "@pawl/runtime/driver";
import { type Database, type Statement, bytes, text } from "./database.ts";
import { PostgresError } from "./error.ts";

type Root = Roots["newest"];

const rootBytes = 32;

const kidOf = (secret: Uint8Array): string => createHash("sha256").update(secret).digest("hex").slice(0, 8);

const statements = (s: string): { readonly [K in "make" | "read" | "adopt"]: Statement } => ({
  make: {
    name: "pawl_root_make",
    text: `INSERT INTO ${s}.root (kid, secret) SELECT $1, $2 WHERE NOT EXISTS (SELECT 1 FROM ${s}.root WHERE retired_at IS NULL)`,
  },
  adopt: {
    name: "pawl_root_adopt",
    text: `INSERT INTO ${s}.root (kid, secret, retired_at) VALUES ($1, $2, clock_timestamp()) ON CONFLICT DO NOTHING`,
  },
  read: {
    name: "pawl_root_read",
    text: `SELECT kid, secret, retired_at IS NULL AS is_live FROM ${s}.root ORDER BY at, kid`,
  },
});

/** Keeps the secrets as they were read last. The oldest that is not retired signs, so that hosts agree on one. */
export class SharedRoots implements Roots {
  #live: readonly Root[] = [];
  #retired: readonly Root[] = [];

  get newest(): Root {
    const [first] = this.#live;
    if (first !== undefined) return first;
    throw new PostgresError("unavailable", "the root secret was not read yet: wait for the first claim");
  }
  get older(): readonly Root[] {
    return [...this.#live.slice(1), ...this.#retired];
  }

  /** Reads the secrets, and makes one where there is none. */
  async load(database: Database, schema: string): Promise<void> {
    const sql = statements(schema);
    await this.#read(database, sql.read);
    if (this.#live.length > 0) return;
    const secret = randomBytes(rootBytes);
    await database.query(sql.make, [kidOf(secret), secret]);
    await this.#read(database, sql.read);
  }

  async #read(database: Database, read: Statement): Promise<void> {
    const rows = await database.query(read, []);
    const rootOf = (row: (typeof rows)[number]): Root => ({ kid: text(row, "kid"), secret: bytes(row, "secret") });
    this.#live = rows.filter((row) => row["is_live"] === true).map(rootOf);
    this.#retired = rows.filter((row) => row["is_live"] !== true).map(rootOf);
  }

  /** Stores secrets of another journal: they verify, and do not sign. */
  async adopt(database: Database, schema: string, roots: readonly Root[]): Promise<void> {
    const sql = statements(schema);
    for (const { kid, secret } of roots) await database.query(sql.adopt, [kid, secret]);
    await this.#read(database, sql.read);
  }
}

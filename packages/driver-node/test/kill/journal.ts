/** The journal of a run: a file in its folder, or a schema of a database. */
import { join } from "node:path";
import { type PostgresJournal, postgresJournal } from "@pawl/journal-postgres";
import { type SqliteJournal, sqliteJournal } from "../../src/index.ts";
import type { Order } from "./order.ts";

export type JournalPlace = Pick<Order, "folder" | "postgres"> & Partial<Pick<Order, "commits">>;

export const journalOf = ({ folder, commits, postgres }: JournalPlace): SqliteJournal | PostgresJournal =>
  postgres === undefined
    ? sqliteJournal(join(folder, "journal.db"), { busyMs: 20_000, ...(commits !== undefined && { commits }) })
    : postgresJournal(postgres);

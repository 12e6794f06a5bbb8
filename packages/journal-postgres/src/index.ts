/** `@pawl/journal-postgres`: a journal on PostgreSQL. */
export {
  type JournalOptions,
  type PostgresJournal,
  type PostgresOptions,
  journalOver,
  postgresJournal,
} from "./journal.ts";
export { type LostRequest } from "./acknowledged.ts";
export { type Database, type Row, type Statement, type Value } from "./database.ts";
export { PostgresError, type PostgresErrorCode } from "./error.ts";
export { type ServerOptions } from "./server.ts";

/** `@pawl/driver-node`: pawl in one Node process. */
export { type OpenOptions, type OpenRuntime, openRuntime } from "./open.ts";
export { nodePlatform } from "./platform.ts";
export { JournalFileError } from "./schema.ts";
export { type SqliteJournal, sqliteJournal } from "./sqlite-journal.ts";

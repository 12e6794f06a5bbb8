/**
 * A journal in a PostgreSQL database, as the command line opens it. Its package is loaded when a database is named, and only
 * `pawl migrate` changes a schema.
 */
import { hkdfSync } from "node:crypto";
import type { PostgresJournal } from "@pawl/journal-postgres";
import type { Secrets } from "@pawl/driver-node";
import { loaded } from "./optional.ts";

/** Tells whether a journal is named by the address of a database. */
export const isDatabase = (name: string): boolean => /^postgres(?:ql)?:/.test(name);

/** Returns the address without its password, for what is printed. */
export const shownJournal = (name: string): string => {
  if (!isDatabase(name) || !URL.canParse(name)) return name;
  const url = new URL(name);
  if (url.password !== "") url.password = "***";
  if (url.searchParams.has("password")) url.searchParams.set("password", "***");
  return url.href;
};

/** How long a person waits to hear that there is no server. */
const patienceMs = 2000;

interface DatabaseUse {
  /** Makes the tables where there are none. */
  readonly migrates?: boolean;
  /** Opens it as it is: its tables may be missing. */
  readonly isBare?: boolean;
}

/** Opens the journal of a database. Fails with what is wrong with it before any command works on it. */
export const openDatabase = async (
  url: string,
  { migrates = false, isBare = false }: DatabaseUse = {},
): Promise<PostgresJournal> => {
  const { postgresJournal } = await loaded(
    "@pawl/journal-postgres",
    "a journal in PostgreSQL",
    () => import("@pawl/journal-postgres"),
  );
  const journal = postgresJournal({ url, migrates, patienceMs, client: { application_name: "pawl cli" } });
  if (isBare) return journal;
  try {
    await journal.connect();
    return journal;
  } catch (thrown) {
    await journal.close();
    throw thrown;
  }
};

const hostSecretBytes = 32;

/** Opens the journal of a database for one use. */
export const withDatabase = async <A>(
  url: string,
  use: DatabaseUse,
  work: (journal: PostgresJournal) => A | Promise<A>,
): Promise<A> => {
  const journal = await openDatabase(url, use);
  try {
    return await work(journal);
  } finally {
    await journal.close();
  }
};

/**
 * Derives the secrets that sign the tokens of hosts from the root secrets of a database, so that all hosts on it accept the
 * same tokens (HKDF-SHA-256).
 */
export const databaseSecrets = ({ roots: { newest, older = [] } }: PostgresJournal): Secrets => {
  const derived = ({ secret }: typeof newest): Uint8Array =>
    new Uint8Array(hkdfSync("sha256", secret, "", "pawl tokens of hosts", hostSecretBytes));
  return [derived(newest), ...older.map(derived)];
};

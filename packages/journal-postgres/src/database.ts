/** The port to a PostgreSQL database, and the reading of its rows. */
import { PostgresError } from "./error.ts";

/** A row as the client returns it: numbers of 64 bits may be texts. */
export type Row = Readonly<Record<string, unknown>>;

/** A statement that each connection prepares once. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

export const named = (name: string, text: string): Statement => ({ name: `pawl_${name}`, text });

export type Value = string | number | boolean | Uint8Array | null;

/** The time that statements are told; null leaves it to the database's clock. */
export type Now = () => number | null;

/** Called as a connection that listens begins, hears, and ends. */
export interface Listening {
  readonly heard: (channel: string, said: string) => void;
  /** Called when the connection listens: nothing that was said before was heard. */
  readonly connected: () => void;
}

/** One statement is one transaction and one round trip. Each may be sent again after a lost answer. */
export interface Database {
  readonly query: (statement: Statement, values: readonly Value[]) => Promise<readonly Row[]>;
  /** Runs a query of the lease, which no other work may hold up. */
  readonly lease: (statement: Statement, values: readonly Value[]) => Promise<readonly Row[]>;
  /** Runs several statements without parameters in one transaction. */
  readonly script: (text: string) => Promise<void>;
  /** Listens on channels until the function that it returns is called. Absent where nobody else could notify. */
  readonly listen?: (channels: readonly string[], on: Listening) => () => void;
  /** Throws where the server does not promise what a journal needs. */
  readonly check: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Lets nothing through until the database is prepared. A preparation that failed is tried again with the next statement. */
export const prepared = (database: Database, prepare: () => Promise<void>): Database => {
  let ready: Promise<void> | undefined;
  const pass = (): Promise<void> => {
    ready ??= prepare().catch((thrown: unknown) => {
      ready = undefined;
      throw thrown;
    });
    return ready;
  };
  return {
    ...database,
    query: async (statement, values) => {
      await pass();
      return database.query(statement, values);
    },
    lease: async (statement, values) => {
      await pass();
      return database.lease(statement, values);
    },
  };
};

const misread = (column: string, found: unknown, wanted: string): PostgresError =>
  new PostgresError("not_intact", `column ${column}: expected ${wanted}, found ${JSON.stringify(found) ?? "nothing"}`);

export const integer = (row: Row | undefined, column: string): number => {
  const found = row?.[column];
  const number = typeof found === "string" || typeof found === "bigint" ? Number(found) : found;
  if (typeof number === "number" && Number.isSafeInteger(number)) return number;
  throw misread(column, String(found), "an integer");
};

export const text = (row: Row | undefined, column: string): string => {
  const found = row?.[column];
  if (typeof found === "string") return found;
  throw misread(column, found, "a text");
};

export const bytes = (row: Row | undefined, column: string): Uint8Array => {
  const found = row?.[column];
  if (found instanceof Uint8Array) return found;
  throw misread(column, found, "bytes");
};

export const optional = <A>(
  read: (row: Row | undefined, column: string) => A,
  row: Row | undefined,
  column: string,
): A | undefined => (row?.[column] === null || row?.[column] === undefined ? undefined : read(row, column));

/**
 * Encodes a name for a column of type text, which holds no U+0000. The order of names is kept: U+0000 and U+0001 become
 * two characters that sort below all others.
 */
export const stored = (name: string): string =>
  name.replaceAll("\u0001", "\u0001\u0002").replaceAll("\u0000", "\u0001\u0001");

/** Decodes a stored name. */
export const nameIn = (row: Row | undefined, column: string): string =>
  text(row, column).replaceAll("\u0001\u0001", "\u0000").replaceAll("\u0001\u0002", "\u0001");

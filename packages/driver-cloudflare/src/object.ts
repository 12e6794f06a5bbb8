/** The part of a Durable Object that the driver uses, in its own words: the platform's types fit these, and so does a test's object. */

/** A value in a row, or bound to a statement. */
export type SqlValue = string | number | null | ArrayBuffer;

export interface SqlRows<Row> {
  readonly toArray: () => Row[];
}

export interface Sql {
  readonly exec: <Row extends Record<string, SqlValue>>(statement: string, ...bound: SqlValue[]) => SqlRows<Row>;
  /** Bytes of the database. */
  readonly databaseSize: number;
}

export interface ObjectStorage {
  readonly sql: Sql;
  readonly transactionSync: <A>(work: () => A) => A;
  /** Resolves once all that was written is durable. */
  readonly sync: () => Promise<void>;
  readonly getAlarm: () => Promise<number | null>;
  readonly setAlarm: (at: number) => Promise<void>;
}

/** An object's end of a WebSocket. */
export interface ObjectSocket {
  readonly readyState: number;
  readonly send: (text: string) => void;
  readonly close: (code: number, reason: string) => void;
  /** Keeps a value beside the socket, as long as it is open. */
  readonly serializeAttachment: (value: string) => void;
  readonly deserializeAttachment: () => unknown;
}

export interface ObjectState {
  readonly id: { readonly name?: string | undefined };
  readonly storage: ObjectStorage;
  readonly waitUntil: (work: Promise<unknown>) => void;
}

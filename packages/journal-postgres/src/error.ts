/** Errors of a journal on PostgreSQL, with stable codes. */
import type { NotWritten } from "@pawl/runtime/driver";

export type PostgresErrorCode =
  | "unavailable"
  | "not_durable"
  | "not_migrated"
  | "newer_schema"
  | "not_intact"
  | "full"
  | "refused"
  | "closed";

/** A database that cannot be used as a journal, or not now. */
export class PostgresError extends Error {
  override readonly name = "PostgresError";
  readonly code: PostgresErrorCode;
  constructor(code: PostgresErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Returns the SQLSTATE of an error, or the code of a socket's error. */
const stateOf = (thrown: unknown): string =>
  thrown instanceof Error && "code" in thrown && typeof thrown.code === "string" ? thrown.code : "";

const messageOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown));

/** Two statements were in each other's way: each is tried again. */
const conflicts = new Set(["40001", "40P01"]);

/** The row is locked by somebody else for longer than `lock_timeout`. */
const isLocked = (thrown: unknown): boolean => stateOf(thrown) === "55P03";

/** The server is full, starting, stopping or a standby, or the connection broke: another try may find it. */
const away = new Set([
  "53300",
  "57P01",
  "57P02",
  "57P03",
  "57014",
  "25006",
  "25P03",
  "ECONNREFUSED",
  "ECONNRESET",
  "EPIPE",
  "ETIMEDOUT",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "EAI_AGAIN",
]);

const brokenConnection = /connection terminated|connection ended|timeout|not queryable|socket/i;

/** Tells whether the same statement may succeed if it is sent again. */
export const isTransient = (thrown: unknown): boolean => {
  const state = stateOf(thrown);
  if (conflicts.has(state) || away.has(state) || state.startsWith("08") || isLocked(thrown)) return true;
  return state === "" && brokenConnection.test(messageOf(thrown));
};

const remedies: { readonly [state: string]: readonly [PostgresErrorCode, string] } = {
  "53100": ["full", "the database's disk is full: make room; nothing acknowledged is lost"],
  "28000": ["refused", "the server refuses this user: check user, password and pg_hba.conf"],
  "28P01": ["refused", "the server refuses this password: check the connection string"],
  "3D000": ["refused", "there is no such database: create it, or name another in the connection string"],
  "42501": [
    "refused",
    "this role may not do that: the owner of the schema grants it by `pawl migrate postgres://… --grant <role>`",
  ],
  "42P01": [
    "not_migrated",
    "the tables are missing: make them by `pawl migrate postgres://…` with a role that may create them",
  ],
  "3F000": [
    "not_migrated",
    "the schema is missing: make it by `pawl migrate postgres://…` with a role that may create it",
  ],
};

/** Converts an error of the client or the server. */
export const postgresError = (thrown: unknown): PostgresError => {
  if (thrown instanceof PostgresError) return thrown;
  const [code, remedy] = remedies[stateOf(thrown)] ?? [
    "unavailable",
    "check that the server runs and can be reached; what was acknowledged stands",
  ];
  return new PostgresError(code, `PostgreSQL: ${messageOf(thrown)}; ${remedy}`, { cause: thrown });
};

export const failure = (thrown: unknown): NotWritten => {
  const { code, message } = postgresError(thrown);
  return code === "full" ? { type: "full" } : { type: "failed", message };
};

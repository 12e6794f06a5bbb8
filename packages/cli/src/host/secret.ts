/** Private files of a host: the secrets that sign tokens, and tokens. */
import { Refused } from "@pawl/runtime";
import { randomBytes } from "node:crypto";
import { closeSync, existsSync, fchmodSync, fstatSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { type Claims, type Secrets } from "@pawl/driver-node";
import { checkSecrets, type Right, scopePrefixProblem, signToken } from "@pawl/driver-node/operator";
import { databaseSecrets, isDatabase, withDatabase } from "../database.ts";
import { CliError, exit, usageError } from "../exit.ts";
import type { Grant } from "./config.ts";

const hourMs = 60 * 60 * 1000;
export const dayHours = 24;
export const defaultRights: readonly Right[] = ["call", "resolve", "approve", "observe", "execute"];

export const textIn = (path: string): Buffer => {
  try {
    return readFileSync(path);
  } catch (thrown) {
    const why = thrown instanceof Error ? thrown.message : String(thrown);
    throw new CliError("unreadable", `${path} cannot be read: ${why}`, { exit: exit.unreachable });
  }
};

/** Writes a file that only its owner can read, even if it existed with other permissions. */
export const writePrivate = (path: string, text: string): void => {
  const fd = openSync(path, "w", 0o600);
  try {
    if (fstatSync(fd).isFile()) fchmodSync(fd, 0o600);
    writeFileSync(fd, text);
  } finally {
    closeSync(fd);
  }
};

const checkedSecrets = (secrets: Secrets): Secrets => {
  try {
    checkSecrets(secrets);
    return secrets;
  } catch (thrown) {
    if (!(thrown instanceof RangeError)) throw thrown;
    throw new CliError("bad_secret", thrown.message, { exit: exit.unreachable });
  }
};

/**
 * Reads the secrets of a host. Without `files` the one beside the journal is used, and made if missing. Hosts on a database
 * have theirs from its root secrets, so that each accepts the tokens of all.
 */
export const secretsOf = async (
  journal: string,
  files: readonly string[] | undefined,
  makes = true,
): Promise<Secrets> => {
  const [first, ...more] = files ?? [];
  if (first !== undefined) return checkedSecrets([textIn(first), ...more.map(textIn)]);
  if (isDatabase(journal)) return withDatabase(journal, { migrates: makes }, databaseSecrets);
  const path = `${journal}.host`;
  if (!existsSync(path)) writeFileSync(path, randomBytes(32), { mode: 0o600, flag: "wx" });
  return checkedSecrets([textIn(path)]);
};

/** Reads the secrets of a host that has run before; makes none. */
export const knownSecretsOf = async (journal: string, files: readonly string[] | undefined): Promise<Secrets> => {
  if (files === undefined && !isDatabase(journal) && !existsSync(`${journal}.host`))
    throw new CliError("no_secret", `there is no secret beside ${journal}: no host has run on it`, {
      exit: exit.unreachable,
      hint: "start a host once, or name its configuration with --config",
    });
  return secretsOf(journal, files, false);
};

/** The claims of a token that is to be made. */
export type TokenRequest = Omit<Grant, "file">;

const prefixed = (scopes: readonly string[]): readonly string[] => {
  const invalid = scopes.find((one) => scopePrefixProblem(one) !== undefined);
  if (invalid === undefined) return scopes;
  throw usageError(scopePrefixProblem(invalid) ?? "", `session:${invalid}`);
};

const signed = (secrets: Secrets, claims: Claims): string => {
  try {
    return signToken(secrets, claims);
  } catch (thrown) {
    throw thrown instanceof Refused ? usageError(thrown.message) : thrown;
  }
};

/** Makes a token. Defaults: all sessions, one day. */
export const tokenFor = (
  secrets: Secrets,
  { by, scopes = ["session:"], rights = defaultRights, hours = dayHours }: TokenRequest,
  now: number,
): { readonly token: string; readonly claims: Claims } => {
  const claims: Claims = { by, scopes: prefixed(scopes), rights, expires_at: now + hours * hourMs };
  return { token: signed(secrets, claims), claims };
};

export const writeGrants = (secrets: Secrets, grants: readonly Grant[], now: number): void => {
  for (const grant of grants) writePrivate(grant.file, `${tokenFor(secrets, grant, now).token}\n`);
};

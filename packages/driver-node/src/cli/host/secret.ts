/** Files of a host that nobody else may read: what tokens are signed under, and tokens. */
import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { type Claims, type Secrets, type Right, signToken } from "../../host/token.ts";
import { CliError, exit } from "../exit.ts";
import type { Grant } from "./config.ts";

const hourMs = 60 * 60 * 1000;
const dayHours = 24;
const usualRights: readonly Right[] = ["call", "resolve", "approve", "observe", "execute"];

export const textIn = (path: string): Buffer => {
  try {
    return readFileSync(path);
  } catch (thrown) {
    const why = thrown instanceof Error ? thrown.message : String(thrown);
    throw new CliError("unreadable", `${path} can not be read: ${why}`, { exit: exit.unreachable });
  }
};

/** The secrets of a host; beside its journal there is one, made where none is named. */
export const secretsOf = (journal: string, files: readonly string[] | undefined): Secrets => {
  const [first, ...more] = files ?? [];
  if (first !== undefined) return [textIn(first), ...more.map(textIn)];
  const path = `${journal}.host`;
  if (!existsSync(path)) writeFileSync(path, randomBytes(32), { mode: 0o600, flag: "wx" });
  return [textIn(path)];
};

/** A token for all sessions, good for a day, unless the grant says otherwise. */
export const tokenFor = (secrets: Secrets, grant: Omit<Grant, "file">, now: number): string => {
  const { by, scopes = ["session:"], rights = usualRights, hours = dayHours } = grant;
  const claims: Claims = { by, scopes, rights, expires_at: now + hours * hourMs };
  return signToken(secrets, claims);
};

export const writeGrants = (secrets: Secrets, grants: readonly Grant[], now: number): void => {
  for (const grant of grants) writeFileSync(grant.file, `${tokenFor(secrets, grant, now)}\n`, { mode: 0o600 });
};

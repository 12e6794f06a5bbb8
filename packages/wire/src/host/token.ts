/**
 * Tokens of a host: principal, scopes, rights, expiry. Format: `pawl1.{claims}.{HMAC-SHA256}`, both parts in base64url.
 */
import {
  type Codec,
  array,
  describe,
  hmac,
  oneOf,
  parse,
  read,
  record,
  string,
  stringifyRecord,
  u64,
  utf8,
} from "@pawl/tool-value";
import { Refused } from "@pawl/runtime";
import * as E from "fp-ts/lib/Either.js";

export type Right = "call" | "resolve" | "approve" | "observe" | "execute" | "move";

export const Right: Codec<Right> = oneOf<Right>("a right", "call", "resolve", "approve", "observe", "execute", "move");

export interface Claims {
  /** The principal, as the log records it. */
  readonly by: string;
  /** Prefixes of scope names: `session:` covers all sessions, `session:team-1/` those of a team. */
  readonly scopes: readonly string[];
  readonly rights: readonly Right[];
  /** Milliseconds since 1970. */
  readonly expires_at: number;
}

export const Claims: Codec<Claims> = record<Claims>("token claims", {
  by: string,
  scopes: array(string),
  rights: array(Right),
  expires_at: u64,
});

/** Secrets, newest first. The first signs; all verify, so that one can be rotated. */
export type Secrets = readonly [Uint8Array, ...Uint8Array[]];
const minSecretBytes = 32;

/** Throws where a host has no secret, or one that could be guessed. */
export const checkSecrets = (secrets: readonly Uint8Array[]): void => {
  const short = secrets.find(({ length }) => length < minSecretBytes);
  if (short !== undefined || secrets.length === 0) {
    const found = short === undefined ? "no secret" : `a secret of ${short.length} bytes`;
    throw new RangeError(`a host needs secrets of at least ${minSecretBytes} bytes, found ${found}`);
  }
};

const version = "pawl1";
const maxTokenLength = 16 * 1024;

/** Encodes bytes as base64url, without padding. */
const base64UrlOf = (bytes: Uint8Array): string =>
  btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");

const textOfBase64Url = (text: string): string => {
  const bytes = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return new TextDecoder().decode(Uint8Array.from(bytes, (char) => char.charCodeAt(0)));
};

const mac = (secret: Uint8Array, claims: string): string => base64UrlOf(hmac(secret, utf8(`${version}.${claims}`)));

const kinds: readonly string[] = ["session:", "process:"];

/** Returns why no scope name can have this prefix. */
export const scopePrefixProblem = (prefix: string): string | undefined =>
  kinds.some((kind) => kind.startsWith(prefix) || prefix.startsWith(kind))
    ? undefined
    : `names of scopes begin with ${kinds.join(" or ")}, found \`${prefix}\``;

/** A smaller number must be seconds. */
const minExpiry = Date.UTC(2001);

const problemOf = ({ scopes, expires_at }: Claims): string | undefined => {
  if (scopes.length === 0) return "scopes: expected at least one, found none: use `session:` for all sessions";
  if (expires_at < minExpiry)
    return `expires_at: expected milliseconds since 1970, found ${expires_at}: multiply seconds by 1000`;
  const problem = scopes.map(scopePrefixProblem).find((found) => found !== undefined);
  return problem === undefined ? undefined : `scopes: ${problem}`;
};

const encoded = (claims: Claims): unknown => {
  try {
    return Claims.encode(claims);
  } catch {
    return claims; // The codec's reader reports the error below.
  }
};

const refused = (message: string): Refused => new Refused("invalid_argument", `claims of a token: ${message}`);

/** Signs a token. Throws `invalid_argument` for claims that no host would accept, or that must be a mistake. */
export const signToken = (secrets: Secrets, claims: Claims): string => {
  const checked = read(Claims, encoded(claims));
  if (E.isLeft(checked)) throw refused(describe(checked.left));
  const problem = problemOf(checked.right);
  if (problem !== undefined) throw refused(problem);
  const text = base64UrlOf(utf8(stringifyRecord(Claims.encode(checked.right))));
  const token = `${version}.${text}.${mac(secrets[0], text)}`;
  if (token.length > maxTokenLength)
    throw refused(`a token has at most ${maxTokenLength} characters, found ${token.length}`);
  return token;
};

/** Compares texts, since several texts decode to the same bytes, in a time that does not tell where they differ. */
const isSame = (a: string, b: string): boolean => {
  if (a.length !== b.length) return false;
  let difference = 0;
  for (let i = 0; i < a.length; i++) difference |= a.charCodeAt(i) ^ b.charCodeAt(i);
  return difference === 0;
};

const isSigned = (secrets: Secrets, claims: string, signature: string): boolean =>
  secrets.some((secret) => isSame(mac(secret, claims), signature));

/** Returns a token's claims if this host signed it and it has not expired; otherwise says why not. */
export const claimsOf = (secrets: Secrets, token: string, now: number): E.Either<string, Claims> => {
  const [prefix, text, signature, ...rest] = token.length > maxTokenLength ? [] : token.split(".");
  if (prefix !== version || text === undefined || signature === undefined || rest.length > 0)
    return E.left(`expected a token of the form ${version}.claims.signature`);
  if (!isSigned(secrets, text, signature)) return E.left("the token was not signed by this host");
  const json = parse(textOfBase64Url(text));
  const claims = E.isLeft(json) ? json : read(Claims, json.right);
  if (E.isLeft(claims)) return E.left(`the token's claims: ${describe(claims.left)}`);
  const { expires_at } = claims.right;
  return expires_at <= now ? E.left(`the token expired at ${new Date(expires_at).toISOString()}`) : claims;
};

/** Returns why the claims do not allow something in a scope; without a scope, why they allow it in none. */
export const missingRight = ({ by, scopes, rights }: Claims, right: Right, scope?: string): string | undefined => {
  if (!rights.includes(right)) return `\`${by}\` has no right to ${right}`;
  if (scope === undefined) return undefined;
  return scopes.some((prefix) => scope.startsWith(prefix)) ? undefined : `\`${by}\` has no right in scope ${scope}`;
};

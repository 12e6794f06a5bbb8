/**
 * Wait keys for the outside: `v1.{kid}.{id}.{HMAC}`. The id is derived from (execution scope, wait); the signature from
 * a secret of the scope, which is derived from a stored root that the hosts of one store share. The core sees ids only.
 */
import { hkdf, hmac, utf8 } from "@pawl/tool-value";
import { bytesToHex } from "@noble/hashes/utils.js";

/** The roots that signatures are made under: the newest signs, all of them verify, so that a root can be rotated. */
export interface Roots {
  readonly newest: { readonly kid: string; readonly secret: Uint8Array };
  readonly older?: readonly { readonly kid: string; readonly secret: Uint8Array }[];
}

export const secretOf = (root: Uint8Array, scope: string): Uint8Array =>
  hkdf(root, new Uint8Array(0), utf8(`pawl wait keys of ${scope}`), 32);

export const sign = (secret: Uint8Array, id: string): string => bytesToHex(hmac(secret, utf8(id)));

/** Makes the token under which the outside resolves a wait. */
export const tokenOf = ({ newest }: Roots, scope: string, id: string): string =>
  `v1.${newest.kid}.${id}.${sign(secretOf(newest.secret, scope), id)}`;

/** Compares in a time that does not tell where the first difference is. */
const isSame = (a: string, b: string): boolean => {
  if (a.length !== b.length) return false;
  let difference = 0;
  for (let i = 0; i < a.length; i++) difference |= a.charCodeAt(i) ^ b.charCodeAt(i);
  return difference === 0;
};

/** A scope's own secret under one root: what travels with a scope, where a root never does. In hex. */
export interface ScopeSecret {
  readonly kid: string;
  readonly secret: string;
}

export const secretsOf = ({ newest, older = [] }: Roots, scope: string): readonly ScopeSecret[] =>
  [newest, ...older].map(({ kid, secret }) => ({ kid, secret: bytesToHex(secretOf(secret, scope)) }));

const bytesOf = (hex: string): Uint8Array =>
  Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));

/** Returns the id in a token that was made under one of these secrets. */
export const idUnder = (secrets: readonly ScopeSecret[], token: string): string | undefined => {
  const [version, kid, id, signature, ...rest] = token.split(".");
  if (version !== "v1" || id === undefined || signature === undefined || rest.length > 0) return undefined;
  const isGood = secrets.some((own) => own.kid === kid && isSame(sign(bytesOf(own.secret), id), signature));
  return isGood ? id : undefined;
};

/** Returns the id of the wait that a token was signed for, or undefined where these roots did not sign it. */
export const idOfToken = (roots: Roots, scope: string, token: string): string | undefined =>
  idUnder(secretsOf(roots, scope), token);

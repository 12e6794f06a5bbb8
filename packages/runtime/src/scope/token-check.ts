/** Whether a token of the outside was made here, or where a scope came from. */
import { bytesToHex } from "@noble/hashes/utils.js";
import { type Roots, secretOf, sign } from "./token.ts";

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

/** The id in a token that was made under one of these secrets. */
export const idUnder = (secrets: readonly ScopeSecret[], token: string): string | undefined => {
  const [version, kid, id, signature, ...rest] = token.split(".");
  if (version !== "v1" || id === undefined || signature === undefined || rest.length > 0) return undefined;
  const isGood = secrets.some((own) => own.kid === kid && isSame(sign(bytesOf(own.secret), id), signature));
  return isGood ? id : undefined;
};

/** The id in a token that is good for a scope. */
export const idOfToken = (roots: Roots, scope: string, token: string): string | undefined =>
  idUnder(secretsOf(roots, scope), token);

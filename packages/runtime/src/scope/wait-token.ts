/**
 * Wait keys for the outside. The core sees ids only; a token is an id with a signature under a secret of the scope, which
 * is derived from a stored root that the hosts of one store share. There are three forms:
 *
 *   v1.{kid}.{id}.{HMAC of id}                                        a key that a request shares, or that completes a call
 *   v2.{kid}.{id}.{call}.{life}.{HMAC of id.call.life}                a key of one call, or of one life of it
 *   v3.{kid}.{id}.{call}.{life}.{scope}.{HMAC of id.call.life.scope}  either, with the scope: whoever has it needs no more
 *
 * Tokens of the third form are made in scopes of protocol 2. The id is derived from (execution scope, wait). Call and scope
 * are in base64url; the call is empty for a key of the first form, the life where the key is that of the call in all its
 * lives. What a signature of one form covers, none of the others can: an id has no dot.
 */
import { hkdf, hmac, utf8 } from "@pawl/tool-value";
import { bytesToHex } from "@noble/hashes/utils.js";
import { base64Of, bytesOf as bytesOfBase64 } from "../encoding.ts";

/** The roots that signatures are made under: the newest signs, all of them verify, so that a root can be rotated. */
export interface Roots {
  readonly newest: { readonly kid: string; readonly secret: Uint8Array };
  readonly older?: readonly { readonly kid: string; readonly secret: Uint8Array }[];
}

/** Whose own a key is: a call's in all its lives, or one life's. */
export interface KeyOwner {
  readonly call: string;
  readonly life?: number;
}

/** The content of a token: the id of a wait, and whose own its key is. */
export type SignedKey = { readonly key: string } & Partial<KeyOwner>;

const secretOf = (root: Uint8Array, scope: string): Uint8Array =>
  hkdf(root, new Uint8Array(0), utf8(`pawl wait keys of ${scope}`), 32);

export const sign = (secret: Uint8Array, signed: string): string => bytesToHex(hmac(secret, utf8(signed)));

const urlOf = (text: string): string =>
  base64Of(utf8(text)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
const textOfUrl = (text: string): string =>
  new TextDecoder().decode(bytesOfBase64(text.replaceAll("-", "+").replaceAll("_", "/")));

/** Makes the token under which the outside resolves a wait of a scope. */
export const tokenOf = ({ newest: { kid, secret } }: Roots, scope: string, id: string, own?: KeyOwner): string => {
  const signed = own === undefined ? id : `${id}.${urlOf(own.call)}.${own.life ?? ""}`;
  return `${own === undefined ? "v1" : "v2"}.${kid}.${signed}.${sign(secretOf(secret, scope), signed)}`;
};

/** Makes a token that names its scope. */
export const scopedTokenOf = (
  { newest: { kid, secret } }: Roots,
  scope: string,
  id: string,
  own?: KeyOwner,
): string => {
  const signed = [id, urlOf(own?.call ?? ""), own?.life ?? "", urlOf(scope)].join(".");
  return `v3.${kid}.${signed}.${sign(secretOf(secret, scope), signed)}`;
};

/** Returns the scope that a token names, whoever signed it; undefined where it names none. */
export const scopeOfToken = (token: string): string | undefined => {
  const [version, , , , , scope, ...rest] = token.split(".");
  if (version !== "v3" || scope === undefined || rest.length !== 1) return undefined;
  try {
    return textOfUrl(scope);
  } catch {
    return undefined; // No base64url: nobody here has made it.
  }
};

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

/** Derives a key for another purpose from a scope's own secret. */
export const keyUnder = ({ secret }: ScopeSecret, purpose: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(hkdf(bytesOf(secret), new Uint8Array(0), utf8(purpose), 32));

/** How many parts each form signs. */
const signedParts: { readonly [version: string]: number } = { v1: 1, v2: 3, v3: 4 };

/** Reads parts whose signature is good. */
const signedKey = ([key = "", call, life]: readonly string[]): SignedKey => {
  if (call === undefined || call === "") return { key };
  return { key, call: textOfUrl(call), ...(life === "" ? {} : { life: Number(life) }) };
};

/** Reads a token that was made under one of these secrets. */
export const readTokenUnder = (secrets: readonly ScopeSecret[], token: string): SignedKey | undefined => {
  const [version = "", kid, ...rest] = token.split(".");
  const parts = rest.slice(0, -1);
  if (parts.length !== signedParts[version]) return undefined;
  const [signed, signature = ""] = [parts.join("."), rest.at(-1)];
  const isGood = secrets.some((own) => own.kid === kid && isSame(sign(bytesOf(own.secret), signed), signature));
  return isGood ? signedKey(parts) : undefined;
};

/** Reads a token; returns undefined where these roots did not sign it. */
export const readToken = (roots: Roots, scope: string, token: string): SignedKey | undefined =>
  readTokenUnder(secretsOf(roots, scope), token);

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

/** Values encrypted by AES-256-GCM under a key of their scope: sealed at one place, they are opened at no other. */
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { type SealPlace, SealedError, type ValueCodec } from "@pawl/runtime";
import type { ScopeKeys } from "./key.ts";

/** The first byte says the form: 1, then a nonce, what was encrypted, and a tag. */
const form = 1;
const nonceBytes = 12;
const tagBytes = 16;
const algorithm = "aes-256-gcm";

const placeBytes = ({ scope, at }: SealPlace): Buffer => Buffer.from(JSON.stringify([scope, at]));

const broken = ({ scope, at }: SealPlace): SealedError =>
  new SealedError("seal_broken", `${scope}: what stands at ${at} was not sealed there, or under another key`);

const opened = (key: Uint8Array, place: SealPlace, sealed: Uint8Array): Uint8Array => {
  const end = sealed.length - tagBytes;
  if (sealed[0] !== form || end < 1 + nonceBytes) throw broken(place);
  const decipher = createDecipheriv(algorithm, key, sealed.subarray(1, 1 + nonceBytes), { authTagLength: tagBytes });
  decipher.setAAD(placeBytes(place));
  decipher.setAuthTag(sealed.subarray(end));
  try {
    return Buffer.concat([decipher.update(sealed.subarray(1 + nonceBytes, end)), decipher.final()]);
  } catch {
    throw broken(place); // The tag does not fit: nothing more can be said of it.
  }
};

export const aesCodec = (keys: ScopeKeys): ValueCodec => ({
  seal: async (place, bytes) => {
    const nonce = randomBytes(nonceBytes);
    const cipher = createCipheriv(algorithm, await keys.sealing(place.scope), nonce, { authTagLength: tagBytes });
    cipher.setAAD(placeBytes(place));
    const encrypted = Buffer.concat([cipher.update(bytes), cipher.final()]);
    return Buffer.concat([Buffer.of(form), nonce, encrypted, cipher.getAuthTag()]);
  },
  open: async (place, sealed) => opened(await keys.opening(place.scope), place, sealed),
});

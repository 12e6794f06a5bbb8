/**
 * Secrets as they are on record: the name, a digest under a key, and the value as sealed by AES-256-GCM, bound to its name.
 * The keys are derived from the scope's own secrets, which no log has: they stay with the roots of the store, and go along
 * where the scope moves. A journal that seals values seals what is sealed here once more, under its own key.
 *
 * This file imports no code: pages load it alone, when they use their first secret.
 */

/** Below this a value could not be told from other text, where what a run says is searched for it. */
const shortest = 8;
const longest = 32_768;
const mostSecrets = 100;

interface Problem {
  readonly code: string;
  readonly message: string;
}

/** Returns why a scope cannot keep a value under a name. */
export const problemOfSecret = (
  known: { readonly size: number; readonly has: (name: string) => boolean },
  name: unknown,
  value: unknown,
): Problem | undefined => {
  if (typeof name !== "string" || name.trim() === "" || !name.isWellFormed())
    return { code: "empty_id", message: "a secret needs a name that is not blank" };
  if (value === undefined) return undefined;
  const wanted = `secret \`${name}\`: expected a text of ${shortest} to ${longest} characters`;
  if (typeof value !== "string" || !value.isWellFormed())
    return { code: "invalid_argument", message: `${wanted}, found another value` };
  if (value.length < shortest || value.length > longest)
    return { code: "invalid_argument", message: `${wanted}, found one of ${value.length}` };
  if (known.size < mostSecrets || known.has(name)) return undefined;
  return { code: "store_full", message: `a session keeps ${mostSecrets} secrets, and no more fit: remove one` };
};

type Bytes = Uint8Array<ArrayBuffer>;

const utf8 = (text: string): Bytes => new Uint8Array(new TextEncoder().encode(text));
const ivBytes = 12;

const cipher = (name: string, iv: Bytes) => ({ name: "AES-GCM", iv, additionalData: utf8(name) });

const aes = (key: Bytes) => crypto.subtle.importKey("raw", key, "AES-GCM", false, ["encrypt", "decrypt"]);

const textOf = (bytes: Bytes): string => bytes.reduce((text, byte) => text + String.fromCharCode(byte), "");

/** Seals a value under a key; returns it in base64. */
export const sealSecret = async (key: Bytes, name: string, value: string): Promise<string> => {
  const iv = crypto.getRandomValues(new Uint8Array(ivBytes));
  const sealed = await crypto.subtle.encrypt(cipher(name, iv), await aes(key), utf8(value));
  return btoa(textOf(iv) + textOf(new Uint8Array(sealed)));
};

/** Opens a value that was sealed under the key for this name; undefined where it was not. */
export const openSecret = async (key: Bytes, name: string, sealed: string): Promise<string | undefined> => {
  const bytes = Uint8Array.from(atob(sealed), (char) => char.charCodeAt(0));
  try {
    const [iv, rest] = [bytes.slice(0, ivBytes), bytes.slice(ivBytes)];
    return new TextDecoder().decode(await crypto.subtle.decrypt(cipher(name, iv), await aes(key), rest));
  } catch (thrown) {
    if (thrown instanceof DOMException && thrown.name === "OperationError") return undefined;
    throw thrown;
  }
};

/** Makes a digest under a key, so that a short value cannot be guessed from the log. */
export const digestOfSecret = async (key: Bytes, name: string, value: string): Promise<string> => {
  const hmac = await crypto.subtle.importKey("raw", key, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  const bytes = new Uint8Array(await crypto.subtle.sign("HMAC", hmac, utf8(`${name}\0${value}`)));
  return Array.from(bytes.slice(0, 8), (byte) => byte.toString(16).padStart(2, "0")).join("");
};

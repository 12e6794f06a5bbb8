/**
 * Sealed values: AES-256-GCM under one key for each scope. Deleting a key destroys the scope's values in every copy
 * (crypto-shredding). The place of a value is authenticated, so a value copied to another place does not open.
 */
import { createHash, randomBytes, createCipheriv, createDecipheriv } from "node:crypto";
import { closeSync, fsyncSync, linkSync, mkdirSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { SealedError, type SealPlace, type ValueCodec } from "@pawl/runtime/driver";

/** A store of keys: files, or a key service. */
export interface ScopeKeys {
  /** Returns a scope's key, created with its first value. Rejects with `key_gone` if it was deleted. */
  readonly sealing: (scope: string) => Promise<Uint8Array>;
  /** Returns the key of a scope that has one. Rejects with `key_missing` or `key_gone`. */
  readonly opening: (scope: string) => Promise<Uint8Array>;
  /** Deletes a key permanently. */
  readonly remove: (scope: string) => Promise<void>;
}

const keyBytes = 32;

const gone = (scope: string): SealedError =>
  new SealedError("key_gone", `the key of ${scope} was deleted: its values can never be read again`);
const missing = (scope: string): SealedError =>
  new SealedError("key_missing", `there is no key of ${scope} here: name the store of keys that has it`);

/** Keeps keys in memory; they end with the process. */
export const memoryKeys = (): ScopeKeys => {
  const keys = new Map<string, Uint8Array | "gone">();
  const known = (scope: string): Uint8Array | undefined => {
    const key = keys.get(scope);
    if (key === "gone") throw gone(scope);
    return key;
  };
  return {
    sealing: async (scope) => {
      const key = known(scope) ?? randomBytes(keyBytes);
      keys.set(scope, key);
      return key;
    },
    opening: async (scope) => {
      const key = known(scope);
      if (key === undefined) throw missing(scope);
      return key;
    },
    remove: async (scope) => void keys.set(scope, "gone"),
  };
};

const isCode = (thrown: unknown, code: string): boolean =>
  thrown instanceof Error && "code" in thrown && thrown.code === code;

const readIfThere = (path: string): Uint8Array | undefined => {
  try {
    return readFileSync(path);
  } catch (thrown) {
    if (isCode(thrown, "ENOENT")) return undefined;
    throw thrown;
  }
};

const writeSynced = (path: string, flags: string, bytes: Uint8Array): void => {
  const fd = openSync(path, flags, 0o600);
  try {
    writeSync(fd, bytes);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
};

const syncFolder = (folder: string): void => {
  const fd = openSync(folder, "r");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
};

/** Cached keys, and the time after which a cached key is checked against its file again. */
const maxKnownKeys = 10_000;
const knownKeyMs = 10_000;

class FileKeys {
  readonly #folder: string;
  readonly #known = new Map<string, { readonly key: Uint8Array; readonly readAt: number }>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  #pathOf(scope: string): string {
    return join(this.#folder, createHash("sha256").update(scope).digest("hex"));
  }

  find(scope: string): Uint8Array | undefined {
    const known = this.#known.get(scope);
    if (known !== undefined && performance.now() - known.readAt < knownKeyMs) return known.key;
    const found = readIfThere(`${this.#pathOf(scope)}.key`);
    if (found?.length === 0) throw gone(scope);
    if (found === undefined && known !== undefined) throw missing(scope); // A vanished key is never replaced by a new one.
    if (found !== undefined) this.#keep(scope, found);
    return found;
  }

  #keep(scope: string, key: Uint8Array): void {
    if (this.#known.size >= maxKnownKeys) this.#known.clear();
    this.#known.set(scope, { key, readAt: performance.now() });
  }

  /** Creates a key. If two processes try at once, the first to link the file wins. */
  make(scope: string): Uint8Array {
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    const path = this.#pathOf(scope);
    const aside = `${path}.${randomBytes(8).toString("hex")}`;
    writeSynced(aside, "wx", randomBytes(keyBytes));
    try {
      linkSync(aside, `${path}.key`);
    } catch (thrown) {
      if (!isCode(thrown, "EEXIST")) throw thrown;
    } finally {
      rmSync(aside, { force: true });
    }
    syncFolder(this.#folder);
    const made = this.find(scope);
    if (made === undefined) throw missing(scope);
    return made;
  }

  /** Overwrites the key and leaves an empty file, so that the scope gets no other key. */
  remove(scope: string): void {
    this.#known.delete(scope);
    const path = `${this.#pathOf(scope)}.key`;
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    const found = readIfThere(path);
    if (found !== undefined && found.length > 0) writeSynced(path, "r+", randomBytes(found.length));
    writeSynced(path, "w", new Uint8Array());
    syncFolder(this.#folder);
  }
}

/**
 * Keeps each scope's key in a file of a folder. A deleted key stays usable in other processes for up to ten seconds.
 */
export const fileKeys = (folder: string): ScopeKeys => {
  const keys = new FileKeys(folder);
  return {
    sealing: async (scope) => keys.find(scope) ?? keys.make(scope),
    opening: async (scope) => {
      const key = keys.find(scope);
      if (key === undefined) throw missing(scope);
      return key;
    },
    remove: async (scope) => keys.remove(scope),
  };
};

/** The first byte is the format version, then the nonce, the ciphertext and the tag. */
const form = 1;
const nonceBytes = 12;
const tagBytes = 16;
const algorithm = "aes-256-gcm";

const placeBytes = ({ scope, at }: SealPlace): Buffer => Buffer.from(JSON.stringify([scope, at]));

const broken = ({ scope, at }: SealPlace): SealedError =>
  new SealedError("seal_broken", `${scope}: the value at ${at} was not sealed for this place, or under another key`);

const opened = (key: Uint8Array, place: SealPlace, sealed: Uint8Array): Uint8Array => {
  const end = sealed.length - tagBytes;
  if (sealed[0] !== form || end < 1 + nonceBytes) throw broken(place);
  const decipher = createDecipheriv(algorithm, key, sealed.subarray(1, 1 + nonceBytes), { authTagLength: tagBytes });
  decipher.setAAD(placeBytes(place));
  decipher.setAuthTag(sealed.subarray(end));
  try {
    return Buffer.concat([decipher.update(sealed.subarray(1 + nonceBytes, end)), decipher.final()]);
  } catch {
    throw broken(place); // The tag does not match. The reason cannot be known.
  }
};

/** Encrypts values with AES-256-GCM, under one key for each scope. */
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

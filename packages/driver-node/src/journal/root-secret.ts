/**
 * The root secret, which signs wait tokens, in a file beside the journal. All processes on the journal share it.
 *
 * To rotate it, rename the file to a name that begins with `{journal}.root.old`: it signs no more tokens, and those it
 * signed stay valid while the file exists. The files are read at each use, so running hosts notice.
 */
import { createHash, randomBytes, randomUUID } from "node:crypto";
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Roots } from "@pawl/runtime/driver";
import { inMemory } from "./path.ts";
import { JournalFileError } from "../sqlite/file-error.ts";

const rootBytes = 32;
/** A shorter secret could be guessed. */
const minRootBytes = 16;

const pathOf = (file: string): string => `${file}.root`;

type Root = Roots["newest"];

const rootOf = (secret: Uint8Array): Root => ({
  kid: createHash("sha256").update(secret).digest("hex").slice(0, 8),
  secret,
});

const rootIn = (path: string): Root => {
  const secret = readFileSync(path);
  if (secret.length >= minRootBytes) return rootOf(secret);
  const advice = "restore it, or remove it, which invalidates all wait tokens";
  throw new JournalFileError("not_intact", `the root secret ${path} has ${secret.length} bytes: ${advice}`);
};

/** Returns the secrets that were rotated out. */
const retiredRoots = (path: string): readonly Root[] =>
  readdirSync(dirname(path))
    .filter((name) => name.startsWith(`${basename(path)}.old`))
    .map((name) => rootIn(join(dirname(path), name)));

const rootsIn = (path: string): Roots => ({ newest: rootIn(path), older: retiredRoots(path) });

const writeWhole = (path: string, bytes: Uint8Array): void => {
  const file = openSync(path, "wx", 0o600);
  try {
    writeSync(file, bytes);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
};

const isThere = (thrown: unknown): boolean => thrown instanceof Error && "code" in thrown && thrown.code === "EEXIST";

/** Publishes the file unless another process was first. File systems without hard links use a rename. */
const publish = (aside: string, path: string): void => {
  try {
    linkSync(aside, path);
  } catch (thrown) {
    if (!isThere(thrown)) renameSync(aside, path);
  }
};

/** Creates a secret. If several processes try at once, one wins, and nobody reads half a file. */
const createRoot = (path: string, secret: Uint8Array = randomBytes(rootBytes)): void => {
  const aside = `${path}.${randomUUID()}`;
  try {
    writeWhole(aside, secret);
    publish(aside, path);
  } finally {
    rmSync(aside, { force: true });
  }
};

/** Tells files under the same name apart. */
const fileIdentity = (path: string): string | undefined => {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat === undefined ? undefined : `${stat.dev} ${stat.ino} ${stat.mtimeMs}`;
};

class RootFiles implements Roots {
  readonly #path: string;
  #read: { readonly mark: string | undefined; readonly root: Root };

  constructor(path: string) {
    this.#path = path;
    this.#read = this.#readNewest();
  }

  #readNewest(): { readonly mark: string | undefined; readonly root: Root } {
    if (!existsSync(this.#path)) createRoot(this.#path);
    const mark = fileIdentity(this.#path);
    return { mark, root: rootIn(this.#path) };
  }

  get newest(): Root {
    if (fileIdentity(this.#path) !== this.#read.mark) this.#read = this.#readNewest();
    return this.#read.root;
  }

  get older(): readonly Root[] {
    return retiredRoots(this.#path);
  }
}

/** Returns the roots of a journal and creates the newest if missing. A journal in memory gets one that ends with it. */
export const rootsOf = (file: string): Roots =>
  file === inMemory ? { newest: rootOf(randomBytes(rootBytes)) } : new RootFiles(pathOf(file));

/** Returns the roots of a journal that has one. */
export const existingRootsOf = (file: string): Roots | undefined => {
  const path = pathOf(file);
  if (existsSync(path)) return rootsIn(path);
  const [first, ...more] = existsSync(dirname(path)) ? retiredRoots(path) : [];
  return first && { newest: first, older: more };
};

/** Keeps secrets of another journal beside this one: they verify the tokens that they signed, and sign no more. */
export const keepRoots = (file: string, { newest, older = [] }: Roots): void => {
  const { path, known } = { path: pathOf(file), known: existingRootsOf(file) };
  const kids = new Set([known?.newest, ...(known?.older ?? [])].map((root) => root?.kid));
  for (const { kid, secret } of [newest, ...older]) if (!kids.has(kid)) createRoot(`${path}.old.${kid}`, secret);
};

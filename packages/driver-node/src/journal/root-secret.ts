/**
 * The root secret of wait keys stands beside the journal: every process over it can tell a true key. One that was set
 * aside, under a name that begins with `{journal}.root.old`, signs no more, and what it signed is good as long as it lies
 * there. The files are looked at whenever a key is made or told: so a root is rotated under hosts that run.
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
import type { Roots } from "@pawl/runtime";
import { inMemory } from "./path.ts";
import { JournalFileError } from "../sqlite/file-error.ts";

const rootBytes = 32;
/** Fewer can be guessed. */
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
  const advice = "restore it, or remove it, and with it all keys that were handed out";
  throw new JournalFileError("not_intact", `the root secret ${path} has ${secret.length} bytes: ${advice}`);
};

/** Those that were set aside, so that another is made. */
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

/** The first stays, except where the file system has no links. */
const put = (aside: string, path: string): void => {
  try {
    linkSync(aside, path);
  } catch (thrown) {
    if (!isThere(thrown)) renameSync(aside, path);
  }
};

/** Of several processes one makes it, and nobody ever reads half of it. */
const make = (path: string): void => {
  const aside = `${path}.${randomUUID()}`;
  try {
    writeWhole(aside, randomBytes(rootBytes));
    put(aside, path);
  } finally {
    rmSync(aside, { force: true });
  }
};

/** Tells one file from another under the same name. */
const fileIdentity = (path: string): string | undefined => {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat === undefined ? undefined : `${stat.dev} ${stat.ino} ${stat.mtimeMs}`;
};

class RootFiles implements Roots {
  readonly #path: string;
  #read: { readonly mark: string | undefined; readonly root: Root };

  constructor(path: string) {
    this.#path = path;
    this.#read = this.#look();
  }

  #look(): { readonly mark: string | undefined; readonly root: Root } {
    if (!existsSync(this.#path)) make(this.#path);
    const mark = fileIdentity(this.#path);
    return { mark, root: rootIn(this.#path) };
  }

  get newest(): Root {
    if (fileIdentity(this.#path) !== this.#read.mark) this.#read = this.#look();
    return this.#read.root;
  }

  get older(): readonly Root[] {
    return retiredRoots(this.#path);
  }
}

/** The roots of a journal, the newest made where there is none; that of one in memory ends with it. */
export const rootsOf = (file: string): Roots =>
  file === inMemory ? { newest: rootOf(randomBytes(rootBytes)) } : new RootFiles(pathOf(file));

/** The root of a journal, if it has one. */
export const existingRootsOf = (file: string): Roots | undefined => {
  const path = pathOf(file);
  return existsSync(path) ? rootsIn(path) : undefined;
};

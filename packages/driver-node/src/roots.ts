/** The root secret of wait keys stands beside the journal: every process over it can tell a true key. */
import { createHash, randomBytes, randomUUID } from "node:crypto";
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import type { Roots } from "@pawl/runtime";
import { inMemory } from "./journal-path.ts";
import { JournalFileError } from "./sqlite/file-error.ts";

const rootBytes = 32;
/** Fewer can be guessed. */
const leastBytes = 16;

const pathOf = (file: string): string => `${file}.root`;

const rootsWith = (secret: Uint8Array): Roots => {
  const kid = createHash("sha256").update(secret).digest("hex").slice(0, 8);
  return { newest: { kid, secret } };
};

const rootsIn = (path: string): Roots => {
  const secret = readFileSync(path);
  if (secret.length >= leastBytes) return rootsWith(secret);
  const advice = "restore it, or remove it, and with it all keys that were handed out";
  throw new JournalFileError("not_intact", `the root secret ${path} has ${secret.length} bytes: ${advice}`);
};

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

/** The root of a journal, made where there is none; that of one in memory ends with it. */
export const rootsOf = (file: string): Roots => {
  if (file === inMemory) return rootsWith(randomBytes(rootBytes));
  const path = pathOf(file);
  if (!existsSync(path)) make(path);
  return rootsIn(path);
};

/** The root of a journal, if it has one. */
export const knownRootsOf = (file: string): Roots | undefined => {
  const path = pathOf(file);
  return existsSync(path) ? rootsIn(path) : undefined;
};

/** A journal, as the command line opens it: a file, or a database. */
import { type AttachmentStore, type Journal, Quarantined, Refused, logText } from "@pawl/runtime";
import type { LostRequest } from "@pawl/journal-postgres";
import { type LogAttachments, type Roots, type ScopeEntry, sealedJournal } from "@pawl/runtime/driver";
import { aesCodec, diskAttachments, existingRootsOf, fileKeys, sqliteJournal } from "@pawl/driver-node/operator";
import { isDatabase, openDatabase, shownJournal } from "./database.ts";
import { CliError, exit, usageError } from "./exit.ts";
import { isJournalFile } from "./text-file.ts";

export interface JournalFile {
  /** Its path, or its address without a password. */
  readonly file: string;
  readonly journal: Journal;
  readonly attachments: AttachmentStore;
  /** The secrets that sign its wait tokens, if any were signed. */
  readonly roots: () => Roots | undefined;
  readonly scopes: (prefix?: string) => Promise<readonly ScopeEntry[]>;
  /** Scopes with calls that need approval. */
  readonly awaitingApproval: (prefix: string) => Promise<readonly ScopeEntry[]>;
  /** Returns a scope's log in the export format. */
  readonly textOf: (scope: string, along?: LogAttachments) => Promise<Iterable<string>>;
  /** Lists requests that clients were told of and that a failover lost: of a database. */
  readonly lostRequests?: () => Promise<readonly LostRequest[]>;
  readonly close: () => Promise<void>;
}

const notRead = (thrown: unknown): never => {
  if (thrown instanceof Quarantined) throw new CliError("line_corrupt", thrown.message, { exit: exit.wrong });
  if (thrown instanceof Refused) throw new CliError(thrown.code, thrown.message, { exit: exit.unreachable });
  throw thrown;
};

const textOf = async (
  journal: Journal,
  file: string,
  scope: string,
  along?: LogAttachments,
): Promise<Iterable<string>> => {
  const text = await logText(journal, scope, along).catch(notRead);
  if (text !== undefined) return text;
  throw new CliError("no_such_scope", `there is no scope ${scope} in ${file}`, {
    exit: exit.unreachable,
    hint: `pawl ls --journal ${file}`,
  });
};

const atOnce = 1000;

const allOf = async (page: Journal["scopes"], prefix: string): Promise<readonly ScopeEntry[]> => {
  const all: ScopeEntry[] = [];
  for (;;) {
    const some = await page(prefix, all.at(-1)?.scope ?? "", atOnce);
    all.push(...some);
    if (some.length < atOnce) return all;
  }
};

/** Wraps a journal so that values sealed under the keys of a folder can be read. */
export const underKeys = (journal: Journal, keys: string | undefined): Journal =>
  keys === undefined ? journal : sealedJournal(journal, aesCodec(fileKeys(keys)));

/** Folders that belong to a journal file. */
export interface JournalFolders {
  /** The folder of large values, if it is not the default. */
  readonly blobs?: string;
  /** The folder of keys that seal values. */
  readonly keys?: string;
}

/** Tells whether a name stands for a journal: a database, or a file that is one. */
export const isJournal = (name: string): boolean => isDatabase(name) || isJournalFile(name);

type Store = Pick<JournalFile, "attachments" | "roots" | "lostRequests" | "close"> & { readonly journal: Journal };

const databaseAt = async (url: string, { blobs }: JournalFolders): Promise<Store> => {
  if (blobs !== undefined)
    throw usageError("--blobs is of a journal file: a database keeps large values itself", "leave out --blobs");
  const journal = await openDatabase(url);
  const { attachments, lostRequests, close } = journal;
  return { journal, attachments, roots: () => journal.roots, lostRequests, close };
};

/** Opens a file. Without `creates` the commit benchmark is skipped, so that a journal on a full disk can be read. */
const fileAt = (file: string, { blobs }: JournalFolders, creates: boolean): Store => {
  if (!creates && !isJournalFile(file)) {
    throw new CliError("no_journal", `${file} is not a journal`, {
      exit: exit.unreachable,
      hint: "name a journal file, or a database: postgres://…",
    });
  }
  const how = { ...(creates ? {} : { commits: "inline" as const }), ...(blobs !== undefined && { blobs }) };
  const journal = sqliteJournal(file, how);
  const attachments = diskAttachments(`${file}.attachments`);
  return { journal, attachments, roots: () => existingRootsOf(file), close: journal.close };
};

/** Opens a journal that exists; with `creates`, one that may be made. A database is made by `pawl migrate` only. */
export const openJournalFile = async (
  name: string,
  folders: JournalFolders = {},
  { creates = false } = {},
): Promise<JournalFile> => {
  const { journal: stored, ...beside } = isDatabase(name)
    ? await databaseAt(name, folders)
    : fileAt(name, folders, creates);
  const journal = underKeys(stored, folders.keys);
  const file = shownJournal(name);
  return {
    file,
    journal,
    scopes: (prefix = "") => allOf(journal.scopes, prefix),
    awaitingApproval: (prefix) => allOf(journal.awaitingApproval, prefix),
    textOf: (scope, along) => textOf(journal, file, scope, along),
    ...beside,
  };
};

/** A journal file, as the command line opens it. */
import { type Journal, Quarantined, Refused, logText } from "@pawl/runtime";
import { type LogAttachments, type ScopeEntry, sealedJournal } from "@pawl/runtime/driver";
import { aesCodec, fileKeys, type SqliteJournal, sqliteJournal } from "@pawl/driver-node/operator";
import { CliError, exit } from "./exit.ts";
import { isJournalFile } from "./text-file.ts";

export interface JournalFile {
  readonly file: string;
  readonly journal: Journal;
  readonly scopes: (prefix?: string) => Promise<readonly ScopeEntry[]>;
  /** Scopes with calls that need approval. */
  readonly awaitingApproval: (prefix: string) => Promise<readonly ScopeEntry[]>;
  /** Returns a scope's log in the export format. */
  readonly textOf: (scope: string, along?: LogAttachments) => Promise<Iterable<string>>;
  readonly close: () => void;
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

/** Opens an existing journal. Skips the commit benchmark, so that a journal on a full disk can be read. */
export const openJournalFile = (file: string, { blobs, keys }: JournalFolders = {}): JournalFile => {
  if (!isJournalFile(file)) {
    throw new CliError("no_journal", `${file} is not a journal`, {
      exit: exit.unreachable,
      hint: "name a journal file",
    });
  }
  const stored: SqliteJournal = sqliteJournal(file, { commits: "inline", ...(blobs !== undefined && { blobs }) });
  const journal = underKeys(stored, keys);
  return {
    file,
    journal,
    scopes: (prefix = "") => allOf(journal.scopes, prefix),
    awaitingApproval: (prefix) => allOf(journal.awaitingApproval, prefix),
    textOf: (scope, along) => textOf(journal, file, scope, along),
    close: stored.close,
  };
};

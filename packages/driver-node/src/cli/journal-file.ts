/** A journal file as the command line sees it. */
import {
  type Journal,
  type LogAttachments,
  Quarantined,
  Refused,
  type ScopeEntry,
  logText,
  sealedJournal,
} from "@pawl/runtime";
import { aesCodec, fileKeys } from "../journal/seal.ts";
import { type SqliteJournal, sqliteJournal } from "../journal/journal.ts";
import { CliError, exit } from "./exit.ts";
import { isJournalFile } from "./text-file.ts";

export interface JournalFile {
  readonly file: string;
  readonly journal: Journal;
  readonly scopes: (prefix?: string) => Promise<readonly ScopeEntry[]>;
  /** Those of which calls wait for a person's word. */
  readonly awaitingApproval: (prefix: string) => Promise<readonly ScopeEntry[]>;
  /** The log of a scope, as it is exported. */
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

/** A journal whose values are sealed under the keys of a folder, where one is named. */
export const underKeys = (journal: Journal, keys: string | undefined): Journal =>
  keys === undefined ? journal : sealedJournal(journal, aesCodec(fileKeys(keys)));

/** What goes with a journal file. */
export interface JournalFolders {
  /** The folder of large values, where it is not the journal's own. */
  readonly blobs?: string;
  /** The folder of keys that its values are sealed under. */
  readonly keys?: string;
}

/** Opens a journal that is there. What a commit takes is not tried: who only looks can do so on a disk without room. */
export const openJournalFile = (file: string, { blobs, keys }: JournalFolders = {}): JournalFile => {
  if (!isJournalFile(file)) {
    throw new CliError("no_journal", `${file} is no journal`, { exit: exit.unreachable, hint: "name a journal file" });
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

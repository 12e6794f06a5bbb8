/** The failures of a journal in a browser, with stable codes, and the browser's errors translated into them. */

export type BrowserJournalCode =
  /** The browser has no IndexedDB or no Web Locks here, or keeps them from this page. */
  | "unavailable"
  /** The journal was made by a newer driver. */
  | "newer_schema"
  /** Another tab keeps an older version of the journal open. */
  | "blocked"
  /** A database of this name exists, and belongs to something else. */
  | "not_a_journal"
  /** The storage is full. */
  | "full"
  /** The browser has closed the journal: its database was deleted, its storage cleared, or its disk failed. */
  | "closed"
  /** Another tab has taken over and is the writer now. */
  | "superseded"
  | "failed";

/** Reports that a database cannot be used as a journal, or no longer. */
export class BrowserJournalError extends Error {
  override readonly name = "BrowserJournalError";
  readonly code: BrowserJournalCode;
  constructor(code: BrowserJournalCode, message: string) {
    super(message);
    this.code = code;
  }
}

const causes: { readonly [name: string]: readonly [BrowserJournalCode, string] } = {
  SecurityError: ["unavailable", "the browser keeps IndexedDB from this page: allow it to store data"],
  InvalidStateError: ["closed", "the database is closed: reload the page, and open it again"],
  AbortError: ["failed", "the transaction was aborted: what was acknowledged is there"],
  QuotaExceededError: ["full", "there is no more room: make some, or ask for persistent storage"],
  VersionError: ["newer_schema", "a newer driver, or something else, made it: load the newer page, or name another"],
  UnknownError: ["failed", "the browser's storage failed: look at the disk"],
};

/** Adds the errors that some browsers throw in private windows. */
const openingCauses: typeof causes = {
  ...causes,
  InvalidStateError: ["unavailable", "the browser stores nothing for this page: leave private browsing, or allow it"],
};

const inWords = (thrown: unknown, name: string, known: typeof causes): BrowserJournalError => {
  if (thrown instanceof BrowserJournalError) return thrown;
  const cause = thrown instanceof Error ? thrown : new Error(String(thrown));
  const [code, advice] = known[cause.name] ?? ["failed", "nothing was acknowledged that is not there"];
  return new BrowserJournalError(code, `journal ${name}: ${cause.message || cause.name}; ${advice}`);
};

/** Translates an error of the browser. */
export const journalError = (thrown: unknown, name: string): BrowserJournalError => inWords(thrown, name, causes);
/** Translates an error of the browser that was thrown while the journal was opened. */
export const openingError = (thrown: unknown, name: string): BrowserJournalError =>
  inWords(thrown, name, openingCauses);

/** Opens a journal file and chooses the thread that commits: this one, or its own if a sync is slow. */
import type { Journal } from "@pawl/runtime";
import { type BlobStore, memoryBlobs } from "@pawl/runtime/driver";
import { diskBlobs } from "./disk-blob.ts";
import { blobsPathOf, inMemory, journalPathOf } from "./path.ts";
import { Connection, type FileOptions } from "../sqlite/connection.ts";
import { inlineJournal } from "../sqlite/inline.ts";
import { threadJournal } from "./thread.ts";

export interface SqliteOptions extends FileOptions {
  /** `measured` (default): a thread of its own if a commit takes longer than 1 ms. */
  readonly commits?: "inline" | "thread" | "measured";
}

export interface SqliteJournal extends Journal {
  /** The thread that commits. */
  readonly commits: "inline" | "thread";
  /** Resolves once all work is done and the file is closed. */
  readonly close: () => Promise<void>;
}

/** A slower commit would block tool bodies for too long. */
const longestInlineMs = 1;

const trials = 6;

/** Measures a commit on this disk. Takes the fastest of several, since the others may have waited for a core. */
export const measureCommitMs = (at: Connection): number => {
  const { know, leave } = at.sql;
  const times = Array.from({ length: trials }, (_, i) => {
    const begun = performance.now();
    at.transact(() => (i % 2 === 0 ? know : leave).run("trial"));
    return performance.now() - begun;
  });
  return Math.min(...times);
};

const inlineIn = (at: Connection, blobs: BlobStore): SqliteJournal => ({
  ...inlineJournal(at),
  blobs,
  commits: "inline",
});

/** Opens a journal in memory: no disk, no files beside it. */
const journalInMemory = (options: FileOptions): SqliteJournal => {
  const { blobs } = options;
  const store = blobs === undefined ? memoryBlobs(options) : diskBlobs(blobsPathOf(inMemory, blobs), options);
  return inlineIn(new Connection(inMemory, options), store);
};

/** Opens a journal, or throws what is wrong with its file. `:memory:` opens one without a file. */
export const sqliteJournal = (
  named: string,
  { commits = "measured", ...options }: SqliteOptions = {},
): SqliteJournal => {
  const file = journalPathOf(named);
  if (file === inMemory) return journalInMemory(options);
  const blobs = diskBlobs(blobsPathOf(file, options.blobs), options);
  const at = new Connection(file, options);
  if (commits === "inline" || (commits === "measured" && measureCommitMs(at) <= longestInlineMs))
    return inlineIn(at, blobs);
  at.close();
  return { ...threadJournal(file, options), blobs, commits: "thread" };
};

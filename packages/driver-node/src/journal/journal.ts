/** Opens a journal file, and decides which thread commits: this one, or another where a sync would hold it up. */
import { type BlobStore, type Journal, memoryBlobs } from "@pawl/runtime";
import { diskBlobs } from "./disk-blob.ts";
import { blobsPathOf, inMemory, journalPathOf } from "./path.ts";
import { Connection, type FileOptions } from "../sqlite/connection.ts";
import { inlineJournal } from "../sqlite/inline.ts";
import { threadJournal } from "./thread.ts";

export interface SqliteOptions extends FileOptions {
  /** `measured` (default): in a thread of its own where a commit takes longer than a millisecond. */
  readonly commits?: "inline" | "thread" | "measured";
}

export interface SqliteJournal extends Journal {
  /** Which thread commits. */
  readonly commits: "inline" | "thread";
  /** Resolves when all that was asked for is done, and the file is closed. */
  readonly close: () => Promise<void>;
}

/** A commit that takes longer holds up the bodies of tools for too long. */
const longestInlineMs = 1;

const trials = 6;

/** What a commit takes on this disk: the least of a few that write, since the others wait for a core as well. */
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

/** What lies in memory waits for no disk, and has nothing beside it. */
const journalInMemory = (options: FileOptions): SqliteJournal => {
  const { blobs } = options;
  const store = blobs === undefined ? memoryBlobs(options) : diskBlobs(blobsPathOf(inMemory, blobs), options);
  return inlineIn(new Connection(inMemory, options), store);
};

/** Whatever is wrong with the file is thrown here, in either case. `:memory:` is one that is on no disk. */
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

/**
 * Checkpoints beside the commits. SQLite makes one in the commit that comes to a thousand pages of its log: 4 ms in which
 * nothing else is done. Where so much is written, a thread copies pages while commits go on, and the log becomes four
 * times as long; the commit that comes to its end has little left to copy.
 */
import { existsSync } from "node:fs";
import type { Worker } from "node:worker_threads";
import type { CheckpointRequest } from "./checkpoint-thread.ts";
import type { Connection } from "./connection.ts";
import { text } from "./sql.ts";
import { preallocateWal, walPages, maxWalPages } from "./wal.ts";
import { moduleExtension, startThread } from "./worker-thread.ts";

/** It holds a statement, and next to nothing besides. */
const youngMb = 1;

/** Pages that are written before the thread copies them. */
const pagesPerPass = 800;

/** The log becomes longer by so many pages in one commit, which takes 2 ms for it, and by the next some commits later. */
const pagesPerStep = 256;
const commitsPerStep = 16;

const pageCharacters = 4000;

/**
 * Before these SQLite could take a log that was begun anew for one that is copied already, where two connections made
 * checkpoints at once (its "WAL-reset bug"): versions of each line in which it is fixedVersions, the newest last.
 */
const fixedVersions: readonly (readonly [number, number, number])[] = [
  [3, 44, 6],
  [3, 50, 7],
  [3, 51, 3],
];

/** Whether connections of one process may make checkpoints beside each other. */
export const mayShareCheckpoints = (version: string): boolean => {
  const [major = 0, minor = 0, patch = 0] = version.split(".").map(Number);
  const line = fixedVersions.find(([a, b]) => a === major && b === minor);
  return line === undefined ? major > 3 || (major === 3 && minor > 51) : patch >= line[2];
};

export class Checkpoints {
  readonly #connection: Connection;
  /** Pages since the thread was last request, at least. */
  #pages = 0;
  #commits = 0;
  #length = walPages;
  #thread: Worker | undefined;
  /** Of the thread, also of one that is request no more. */
  #exit: { readonly thread: Worker; readonly gone: Promise<unknown> } | undefined;
  #isBusy = false;
  /** SQLite makes them alone. */
  #isSqliteOnly: boolean;

  constructor(connection: Connection) {
    this.#connection = connection;
    const isInMemory = !existsSync(connection.file);
    this.#isSqliteOnly = isInMemory || !mayShareCheckpoints(text(connection.sql.version.get() ?? {}, "version"));
    if (this.#isSqliteOnly) connection.useSqliteCheckpoints();
  }

  /** Whether the next commit makes the log longer. */
  get isStepDue(): boolean {
    return this.#thread !== undefined && this.#length < maxWalPages && this.#commits % commitsPerStep === 0;
  }

  /** Makes the log longer. Inside a transaction, before it writes. */
  step(): void {
    this.#length += pagesPerStep;
    if (!preallocateWal(this.#connection.file, this.#length)) this.#stopThread();
  }

  /** A commit of so many characters is made. */
  committed(characters: number): void {
    this.#commits += 1;
    this.#pages += 1 + Math.floor(characters / pageCharacters);
    if (this.#pages < pagesPerPass || this.#isBusy || this.#isSqliteOnly) return;
    this.#thread ??= this.#startThread();
    this.#pages = 0;
    this.#isBusy = true;
    this.#send("pass");
  }

  /** What is committed is committed, whether or not there can be a thread. */
  #startThread(): Worker | undefined {
    try {
      const module = new URL(`./checkpoint-thread.${moduleExtension}`, import.meta.url);
      const thread = startThread(module, this.#connection.file, youngMb, () => void (this.#isBusy = false));
      thread.on("error", () => this.#stopThread());
      this.#exit = { thread, gone: new Promise((resolve) => void thread.once("exit", resolve)) };
      return thread;
    } catch {
      this.#stopThread();
      return undefined;
    }
  }

  #send(request: CheckpointRequest): void {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    this.#thread?.postMessage(request);
  }

  /** There is no room, or the thread has failed: SQLite makes them alone. */
  #stopThread(): void {
    this.#send("close");
    this.#thread = undefined;
    this.#isSqliteOnly = true;
    this.#connection.useSqliteCheckpoints();
  }

  /** Resolves when the thread has let go of the file. */
  async close(): Promise<void> {
    this.#isSqliteOnly = true;
    this.#send("close");
    this.#thread = undefined;
    this.#exit?.thread.ref();
    await this.#exit?.gone;
  }
}

/**
 * Checkpoints in the background. SQLite makes a checkpoint in the commit that fills a thousand pages of its log, which
 * blocks for 4 ms. Under heavy writing a thread copies pages while commits go on, and the log is allowed four times the
 * length, so the commit at its end has little left to copy.
 */
import { existsSync } from "node:fs";
import type { Worker } from "node:worker_threads";
import type { CheckpointRequest } from "./checkpoint-thread.ts";
import type { Connection } from "./connection.ts";
import { text } from "./sql.ts";
import { preallocateWal, walPages, maxWalPages } from "./wal.ts";
import { moduleExtension, startThread } from "./worker-thread.ts";

/** Young generation of the thread's heap. It holds one statement. */
const youngMb = 1;

/** Pages written before the thread is asked to copy them. */
const pagesPerPass = 800;

/**
 * The log grows by this many pages in one commit, which takes 2 ms, and then waits some commits before it grows again.
 */
const pagesPerStep = 256;
const commitsPerStep = 16;

const pageCharacters = 4000;

/**
 * Fixed versions of each SQLite release line, oldest first. Before them two connections that made checkpoints at once
 * could corrupt the file (the "WAL-reset bug").
 */
const fixedVersions: readonly (readonly [number, number, number])[] = [
  [3, 44, 6],
  [3, 50, 7],
  [3, 51, 3],
];

/** Tells whether two connections of one process may make checkpoints at the same time. */
export const mayShareCheckpoints = (version: string): boolean => {
  const [major = 0, minor = 0, patch = 0] = version.split(".").map(Number);
  const line = fixedVersions.find(([a, b]) => a === major && b === minor);
  return line === undefined ? major > 3 || (major === 3 && minor > 51) : patch >= line[2];
};

export class Checkpoints {
  readonly #connection: Connection;
  /** Pages written since the thread was last asked, at least. */
  #pages = 0;
  #commits = 0;
  #length = walPages;
  #thread: Worker | undefined;
  /** Resolves once the thread has ended, even if it is no longer used. */
  #exit: { readonly thread: Worker; readonly gone: Promise<unknown> } | undefined;
  #isBusy = false;
  /** Leaves checkpoints to SQLite. */
  #isSqliteOnly: boolean;

  constructor(connection: Connection) {
    this.#connection = connection;
    const isInMemory = !existsSync(connection.file);
    this.#isSqliteOnly = isInMemory || !mayShareCheckpoints(text(connection.sql.version.get() ?? {}, "version"));
    if (this.#isSqliteOnly) connection.useSqliteCheckpoints();
  }

  /** Tells whether the next commit should lengthen the log. */
  get isStepDue(): boolean {
    return this.#thread !== undefined && this.#length < maxWalPages && this.#commits % commitsPerStep === 0;
  }

  /** Lengthens the log. Runs inside a transaction, before its first write. */
  step(): void {
    this.#length += pagesPerStep;
    if (!preallocateWal(this.#connection.file, this.#length)) this.#stopThread();
  }

  /** Counts a commit, and asks the thread for a pass if enough pages were written. */
  committed(characters: number): void {
    this.#commits += 1;
    this.#pages += 1 + Math.floor(characters / pageCharacters);
    if (this.#pages < pagesPerPass || this.#isBusy || this.#isSqliteOnly) return;
    this.#thread ??= this.#startThread();
    this.#pages = 0;
    this.#isBusy = true;
    this.#send("pass");
  }

  /** Starts the thread. If that fails, SQLite makes the checkpoints: commits do not depend on the thread. */
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

  /** Leaves checkpoints to SQLite, because the disk is full or the thread has failed. */
  #stopThread(): void {
    this.#send("close");
    this.#thread = undefined;
    this.#isSqliteOnly = true;
    this.#connection.useSqliteCheckpoints();
  }

  /** Resolves once the thread has closed its connection. */
  async close(): Promise<void> {
    this.#isSqliteOnly = true;
    this.#send("close");
    this.#thread = undefined;
    this.#exit?.thread.ref();
    await this.#exit?.gone;
  }
}

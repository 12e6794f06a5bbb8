/**
 * Checkpoints beside the commits. SQLite makes one in the commit that comes to a thousand pages of its log: 4 ms in which
 * nothing else is done. Where so much is written, a thread copies pages while commits go on, and the log becomes four
 * times as long; the commit that comes to its end has little left to copy.
 */
import { existsSync } from "node:fs";
import type { Worker } from "node:worker_threads";
import type { Asked } from "./checkpoint-thread.ts";
import type { Connection } from "./connection.ts";
import { fillWal, fullPages, longPages } from "./wal.ts";
import { threadOf } from "./worker.ts";

/** It holds a statement, and next to nothing besides. */
const youngMb = 1;

/** Pages that are written before the thread copies them. */
const pagesPerPass = 800;

/** The log becomes longer by so many pages in one commit, which takes 2 ms for it, and by the next some commits later. */
const pagesPerStep = 256;
const commitsPerStep = 16;

const pageCharacters = 4000;

export class Checkpoints {
  readonly #at: Connection;
  /** Pages since the thread was last asked, at least. */
  #pages = 0;
  #commits = 0;
  #length = fullPages;
  #thread: Worker | undefined;
  #isAtWork = false;
  /** SQLite makes them alone. */
  #isAlone: boolean;

  constructor(at: Connection) {
    this.#at = at;
    this.#isAlone = !existsSync(at.file); // It lies in memory.
  }

  /** Whether the next commit makes the log longer. */
  get isStepDue(): boolean {
    return this.#thread !== undefined && this.#length < longPages && this.#commits % commitsPerStep === 0;
  }

  /** Makes the log longer. Inside a transaction, before it writes. */
  step(): void {
    this.#length += pagesPerStep;
    if (!fillWal(this.#at.file, this.#length)) this.#leave();
  }

  /** A commit of so many characters is made. */
  committed(characters: number): void {
    this.#commits += 1;
    this.#pages += 1 + Math.floor(characters / pageCharacters);
    if (this.#pages < pagesPerPass || this.#isAtWork || this.#isAlone) return;
    this.#thread ??= this.#begun();
    this.#pages = 0;
    this.#isAtWork = true;
    this.#ask("pass");
  }

  /** What is committed is committed, whether or not there can be a thread. */
  #begun(): Worker | undefined {
    try {
      const thread = threadOf("checkpoint-thread", this.#at.file, youngMb);
      thread.on("message", () => void (this.#isAtWork = false));
      thread.on("error", () => this.#leave());
      return thread;
    } catch {
      this.#leave();
      return undefined;
    }
  }

  #ask(asked: Asked): void {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    this.#thread?.postMessage(asked);
  }

  /** There is no room, or the thread has failed: SQLite makes them alone. */
  #leave(): void {
    this.#ask("close");
    this.#thread = undefined;
    this.#isAlone = true;
    this.#at.checkpointAlone();
  }

  /** Resolves when the thread has let go of the file. */
  async close(): Promise<void> {
    const thread = this.#thread;
    this.#isAlone = true;
    if (thread === undefined) return;
    this.#ask("close");
    this.#thread = undefined;
    thread.ref();
    await new Promise((resolve) => void thread.once("exit", resolve));
  }
}

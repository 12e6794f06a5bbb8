/** A journal file in a thread of its own: a sync holds up nobody but who waits for it. */
import type { Worker } from "node:worker_threads";
import type { Append, AppendResult, Journal } from "@pawl/runtime";
import type { FileOptions } from "./connection.ts";
import { JournalFileError } from "./file-error.ts";
import { type Answer, type Method, type Methods, type Question, errorOf } from "./thread-message.ts";
import type { ThreadData } from "./thread-worker.ts";
import { threadOf } from "./worker.ts";

interface Asked {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** What is asked and answered is soon garbage: room for more of it would only stay resident, up to 100 MB. */
const youngMb = 16;

class JournalThread {
  readonly #file: string;
  readonly #now: () => number;
  readonly #worker: Worker;
  readonly #asked = new Map<number, Asked>();
  #count = 0;
  #ended: Error | undefined;
  #closed: Promise<void> | undefined;

  constructor(file: string, { now = Date.now, ...options }: FileOptions) {
    const workerData: ThreadData = { file, options };
    this.#file = file;
    this.#now = now;
    this.#worker = threadOf<Answer>("thread-worker", workerData, youngMb, (said) => this.#hear(said));
    this.#worker.on("error", (thrown: Error) => this.#end("io_failed", thrown.message));
    this.#worker.on("exit", () => this.#end("closed", "was closed"));
  }

  /** The process lives on as long as somebody waits for the disk. */
  #hear(said: Answer): void {
    const asked = this.#asked.get(said.id);
    this.#asked.delete(said.id);
    if (this.#asked.size === 0) this.#worker.unref();
    if (said.type === "done") asked?.resolve(said.value);
    else asked?.reject(errorOf(said.wrong));
  }

  #end(code: "closed" | "io_failed", why: string): void {
    this.#ended ??= new JournalFileError(code, `journal ${this.#file}: its thread has ended: ${why}`);
    for (const { reject } of this.#asked.values()) reject(this.#ended);
    this.#asked.clear();
  }

  #ask(question: (id: number) => Question): Promise<unknown> {
    if (this.#ended !== undefined) return Promise.reject(this.#ended);
    return new Promise((resolve, reject) => {
      const id = (this.#count += 1);
      if (this.#asked.size === 0) this.#worker.ref();
      this.#asked.set(id, { resolve, reject });
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
      this.#worker.postMessage(question(id));
    });
  }

  call(method: Method, args: readonly unknown[]): Promise<unknown> {
    return this.#ask((id) => ({ type: "call", id, now: this.#now(), method, args }));
  }

  /** Whoever closes it again waits for the same. */
  close(): Promise<void> {
    return (this.#closed ??= this.#close());
  }

  async #close(): Promise<void> {
    if (this.#ended !== undefined) return;
    const closed = this.#ask((id) => ({ type: "close", id }));
    this.#ended = new JournalFileError("closed", `journal ${this.#file} was closed`);
    await closed;
  }
}

export interface ThreadJournal extends Journal {
  readonly close: () => Promise<void>;
}

export const threadJournal = (file: string, options: FileOptions): ThreadJournal => {
  const thread = new JournalThread(file, options);
  /** The thread runs the same method with the same arguments, and its answer is of the same type. */
  const asks = <M extends Method>(method: M): Methods[M] =>
    ((...args: readonly unknown[]) => thread.call(method, args)) as unknown as Methods[M];
  const appendAll = async (appends: readonly Append[]): Promise<readonly AppendResult[]> => {
    try {
      return await asks("appendAll")(appends);
    } catch (thrown) {
      const message = thrown instanceof Error ? thrown.message : String(thrown);
      return appends.map(() => ({ type: "failed", message }));
    }
  };
  return {
    moves: {
      adopt: asks("adopt"),
      decline: asks("decline"),
      ended: asks("ended"),
      secrets: asks("secrets"),
      index: asks("index"),
    },
    join: asks("join"),
    renew: asks("renew"),
    leave: asks("leave"),
    lost: asks("lost"),
    claim: asks("claim"),
    load: asks("load"),
    release: asks("release"),
    appendAll,
    read: asks("read"),
    find: asks("find"),
    due: asks("due"),
    inbox: asks("inbox"),
    mailed: asks("mailed"),
    scopes: asks("scopes"),
    awaitingApproval: asks("awaitingApproval"),
    snapshot: asks("snapshot"),
    retain: asks("retain"),
    segment: asks("segment"),
    head: asks("head"),
    verify: asks("verify"),
    close: () => thread.close(),
  };
};

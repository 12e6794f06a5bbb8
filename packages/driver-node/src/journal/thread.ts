/** A journal in a worker thread of its own, so that a slow sync does not block this thread. */
import type { Worker } from "node:worker_threads";
import type { Journal } from "@pawl/runtime";
import type { Append, AppendResult, MoveStore, QueueStore } from "@pawl/runtime/driver";
import type { FileOptions } from "../sqlite/connection.ts";
import { JournalFileError, type JournalFileCode } from "../sqlite/file-error.ts";
import type { ThreadData } from "./thread-worker.ts";
import { moduleExtension, startThread } from "../sqlite/worker-thread.ts";

/** The methods of queues, under names that no other method has. */
interface QueueMethods {
  readonly advanceQueues: QueueStore["advance"];
  readonly leaveQueues: QueueStore["leave"];
  readonly standing: QueueStore["standing"];
}

export type Methods = Omit<Journal, "moves" | "queues"> & MoveStore & QueueMethods;
export type Method = keyof Methods;

/** `now` is the store's clock at the time of the request: waiting for the disk does not lengthen a lease. */
export type ThreadRequest =
  | {
      readonly type: "call";
      readonly id: number;
      readonly now: number;
      readonly method: Method;
      readonly args: unknown;
    }
  | { readonly type: "close"; readonly id: number };

export interface SerializedError {
  readonly code: JournalFileCode | undefined;
  readonly message: string;
}

export type ThreadAnswer =
  | { readonly type: "done"; readonly id: number; readonly value: unknown }
  | { readonly type: "thrown"; readonly id: number; readonly error: SerializedError };

export const serializeError = (thrown: unknown): SerializedError => ({
  code: thrown instanceof JournalFileError ? thrown.code : undefined,
  message: thrown instanceof Error ? thrown.message : String(thrown),
});

export const deserializeError = ({ code, message }: SerializedError): Error =>
  code === undefined ? new Error(message) : new JournalFileError(code, message);

interface PendingRequest {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** Young generation of the thread's heap. Messages die soon; a larger one would only stay resident, up to 100 MB. */
const youngMb = 16;

class JournalThread {
  readonly #file: string;
  readonly #now: () => number;
  readonly #worker: Worker;
  readonly #pending = new Map<number, PendingRequest>();
  #count = 0;
  #ended: Error | undefined;
  #closed: Promise<void> | undefined;

  constructor(file: string, { now = Date.now, ...options }: FileOptions) {
    const workerData: ThreadData = { file, options };
    this.#file = file;
    this.#now = now;
    const module = new URL(`./thread-worker.${moduleExtension}`, import.meta.url);
    this.#worker = startThread<ThreadAnswer>(module, workerData, youngMb, (answer) => this.#onAnswer(answer));
    this.#worker.on("error", (thrown: Error) => this.#end("io_failed", thrown.message));
    this.#worker.on("exit", () => this.#end("closed", "was closed"));
  }

  /** Keeps the process alive while a request is pending. */
  #onAnswer(answer: ThreadAnswer): void {
    const pending = this.#pending.get(answer.id);
    this.#pending.delete(answer.id);
    if (this.#pending.size === 0) this.#worker.unref();
    if (answer.type === "done") pending?.resolve(answer.value);
    else pending?.reject(deserializeError(answer.error));
  }

  #end(code: "closed" | "io_failed", why: string): void {
    this.#ended ??= new JournalFileError(code, `journal ${this.#file}: its thread has ended: ${why}`);
    for (const { reject } of this.#pending.values()) reject(this.#ended);
    this.#pending.clear();
  }

  #request(request: (id: number) => ThreadRequest): Promise<unknown> {
    if (this.#ended !== undefined) return Promise.reject(this.#ended);
    return new Promise((resolve, reject) => {
      const id = (this.#count += 1);
      if (this.#pending.size === 0) this.#worker.ref();
      this.#pending.set(id, { resolve, reject });
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
      this.#worker.postMessage(request(id));
    });
  }

  call(method: Method, args: readonly unknown[]): Promise<unknown> {
    return this.#request((id) => ({ type: "call", id, now: this.#now(), method, args }));
  }

  /** Closes the file; a second call returns the same promise. */
  close(): Promise<void> {
    return (this.#closed ??= this.#close());
  }

  async #close(): Promise<void> {
    if (this.#ended !== undefined) return;
    const closed = this.#request((id) => ({ type: "close", id }));
    this.#ended = new JournalFileError("closed", `journal ${this.#file} was closed`);
    await closed;
  }
}

export interface ThreadJournal extends Journal {
  readonly close: () => Promise<void>;
}

export const threadJournal = (file: string, options: FileOptions): ThreadJournal => {
  const thread = new JournalThread(file, options);
  /** Forwards a method to the thread, which runs the same method and returns the same type. */
  const forward = <M extends Method>(method: M): Methods[M] =>
    ((...args: readonly unknown[]) => thread.call(method, args)) as unknown as Methods[M];
  const appendAll = async (appends: readonly Append[]): Promise<readonly AppendResult[]> => {
    try {
      return await forward("appendAll")(appends);
    } catch (thrown) {
      const message = thrown instanceof Error ? thrown.message : String(thrown);
      return appends.map(() => ({ type: "failed", message }));
    }
  };
  return {
    moves: {
      adopt: forward("adopt"),
      decline: forward("decline"),
      ended: forward("ended"),
      secrets: forward("secrets"),
      index: forward("index"),
    },
    queues: { advance: forward("advanceQueues"), leave: forward("leaveQueues"), standing: forward("standing") },
    join: forward("join"),
    renew: forward("renew"),
    leave: forward("leave"),
    lost: forward("lost"),
    claim: forward("claim"),
    load: forward("load"),
    release: forward("release"),
    appendAll,
    read: forward("read"),
    find: forward("find"),
    due: forward("due"),
    inbox: forward("inbox"),
    mailed: forward("mailed"),
    scopes: forward("scopes"),
    awaitingApproval: forward("awaitingApproval"),
    snapshot: forward("snapshot"),
    retain: forward("retain"),
    segment: forward("segment"),
    head: forward("head"),
    verify: forward("verify"),
    close: () => thread.close(),
  };
};

/**
 * Attaches a Web Worker that runs `client_side` tools to a runtime. The worker holds a Web Lock for as long as it lives, and the
 * page waits for the same lock: when the page gets it, the worker has ended or crashed, and its runs are lost.
 */
import type { Runtime } from "@pawl/runtime";
import { describe, read } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { FromWorker, ToWorker } from "./message.ts";

export interface AttachedWorker {
  /** The ids of its tools. */
  readonly tools: readonly string[];
  /** Resolves when the worker has ended, for any reason. */
  readonly ended: Promise<void>;
  /** Ends the worker; its runs are lost. */
  readonly end: () => void;
}

export interface AttachOptions {
  /** Selects the scopes that it works for; all by default. */
  readonly serves?: (scope: string) => boolean;
  /** Called for messages that do not decode or cannot be used. */
  readonly fault?: (what: string, thrown: unknown) => void;
}

const heard = (data: unknown): FromWorker => {
  const message = read(FromWorker, data);
  if (E.isRight(message)) return message.right;
  throw new TypeError(`the worker is to run tools of pawl by \`serveTools\`: ${describe(message.left)}`);
};

const tell = (worker: Worker, message: ToWorker): void => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker is of this page
  worker.postMessage(ToWorker.encode(message));
};

/** Explains the error of a script that did not load, which has no message. */
const notLoaded = "its script did not load (is it there, and allowed?)";

/** Resolves with the worker's tools once it holds its lock. */
const begun = (worker: Worker, lock: string): Promise<readonly string[]> =>
  new Promise((resolve, reject) => {
    const listening = new AbortController();
    const { signal } = listening;
    const failed = ({ message = notLoaded }: Partial<ErrorEvent>): void =>
      reject(new Error(`the worker did not begin: ${message}`));
    const ready = ({ data }: MessageEvent): void => {
      const message = read(FromWorker, data);
      if (E.isLeft(message) || message.right.type !== "ready") return;
      listening.abort();
      resolve(message.right.tools);
    };
    worker.addEventListener("error", failed, { signal });
    worker.addEventListener("message", ready, { signal });
    tell(worker, { type: "begin", lock });
  });

/** Attaches a worker to a runtime. Resolves once its script has called `serveTools`. */
export const attachWorker = async (
  runtime: Runtime,
  worker: Worker,
  { serves = () => true, fault }: AttachOptions = {},
): Promise<AttachedWorker> => {
  const id = `worker:${crypto.randomUUID()}`;
  const own = await begun(worker, `pawl ${id}`);
  worker.addEventListener("message", ({ data }) => void settle(data).catch((thrown: unknown) => fault?.(id, thrown)));
  const settle = async (data: unknown): Promise<void> => {
    const message = heard(data);
    if (message.type !== "settled") return;
    const { type: _type, ...settlement } = message;
    await runtime.settle(id, settlement);
  };
  const leave = runtime.register({
    id,
    tools: own,
    serves,
    offer: (offer) => tell(worker, { type: "run", ...offer }),
    cancel: ({ scope, call, attempt, run }) => tell(worker, { type: "cancel", scope, call, attempt, run }),
  });
  let isEnded = false;
  const ended = navigator.locks.request(`pawl ${id}`, () => leave(isEnded ? "released" : "lost"));
  const end = (): void => {
    isEnded = true;
    worker.terminate();
  };
  return { tools: own, ended, end };
};

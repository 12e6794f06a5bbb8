/** `@pawl/driver-browser/worker`: runs tools in a Web Worker, for the page that attached it. */
import type { Offer, OfferedRun } from "@pawl/runtime/driver";
import {
  type Json,
  type ToolCallOutput,
  describe,
  errorOutput,
  internalErrorOutput,
  outputOfReturned,
  read,
} from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { FromWorker, ToWorker, keyOf } from "./message.ts";

export interface WorkerContext extends OfferedRun {
  /** The payload that the tool prepared. */
  readonly payload: Json;
  /** The token that completes an externally owned call, also after this worker has ended. */
  readonly completionKey: string | undefined;
  /** Aborts when the call was cancelled; the tool should then return soon. */
  readonly signal: AbortSignal;
}

/** Runs a tool. The model sees the message of a `ToolRefused` that it throws; other errors are hidden. */
export type WorkerTool = (args: Json, context: WorkerContext) => unknown;

/** Refuses a call with a message for the model. */
export class ToolRefused extends Error {
  override readonly name = "ToolRefused";
}

/** The part of the worker's global scope that is used. */
interface WorkerScope {
  readonly postMessage: (message: unknown) => void;
  readonly addEventListener: (type: "message", hear: (event: { readonly data: unknown }) => void) => void;
}

class Served {
  readonly #scope: WorkerScope;
  readonly #tools: { readonly [toolId: string]: WorkerTool };
  readonly #runs = new Map<string, AbortController>();

  constructor(scope: WorkerScope, tools: { readonly [toolId: string]: WorkerTool }) {
    this.#scope = scope;
    this.#tools = tools;
  }

  listen(): void {
    this.#scope.addEventListener("message", ({ data }) => {
      const message = read(ToWorker, data);
      if (E.isLeft(message)) throw new TypeError(`this worker runs tools of pawl: ${describe(message.left)}`);
      this.#hear(message.right);
    });
  }

  #tell(message: FromWorker): void {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker has one page to speak to
    this.#scope.postMessage(FromWorker.encode(message));
  }

  #hear(message: ToWorker): void {
    switch (message.type) {
      case "begin":
        return this.#begin(message.lock);
      case "run":
        return void this.#run(message);
      case "cancel":
        return this.#runs.get(keyOf(message))?.abort();
    }
  }

  /** Takes the lock, and keeps it until the worker ends. */
  #begin(lock: string): void {
    void navigator.locks.request(lock, () => {
      this.#tell({ type: "ready", tools: Object.keys(this.#tools) });
      return new Promise<never>(() => undefined);
    });
  }

  /** Runs an offered call, once: an offer that is repeated has already begun. */
  async #run({ tool_id: id, args, payload, completion_key: completionKey, ...offer }: Offer): Promise<void> {
    const { scope, call, attempt, run: number } = offer;
    const run = { scope, call, attempt, run: number };
    const key = keyOf(run);
    if (this.#runs.has(key)) return;
    const abort = new AbortController();
    this.#runs.set(key, abort);
    const startedAt = performance.now();
    const output = await this.#output(id, args, { ...run, payload, completionKey, signal: abort.signal });
    this.#runs.delete(key);
    this.#tell({ type: "settled", ...run, output, duration_ms: Math.round(performance.now() - startedAt) });
  }

  async #output(id: string, args: Json, context: WorkerContext): Promise<ToolCallOutput> {
    try {
      return outputOfReturned((await this.#tools[id]?.(args, context)) ?? null);
    } catch (thrown) {
      if (thrown instanceof ToolRefused) return errorOutput(thrown.message.toWellFormed());
      reportError(thrown);
      return internalErrorOutput;
    }
  }
}

/** Runs these tools, by tool id, for the page; once in a worker. */
export const serveTools = (tools: { readonly [toolId: string]: WorkerTool }): void => {
  new Served(globalThis as unknown as WorkerScope, tools).listen();
};

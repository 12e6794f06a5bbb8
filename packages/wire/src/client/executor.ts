/** Runs tools for a host, in a page or a program: what was begun goes on over reconnections, and its result is kept. */
import type { Offer, OfferedRun, ProgressMessage } from "@pawl/runtime";
import { type Json, type ToolCallOutput, errorOutput, internalErrorOutput, outputOfReturned } from "@pawl/tool-value";
import type { HostRefused } from "./error.ts";

export interface ExecutorContext extends OfferedRun {
  /** What the tool prepared. */
  readonly payload: Json;
  /** Of an externally owned call: the token under which the outside completes it when this executor is gone. */
  readonly completionKey: string | undefined;
  /** The call was cancelled: whatever comes of it now, soon. */
  readonly signal: AbortSignal;
  /** Observers hear of it; it is recorded nowhere, and not said again where the connection is lost. */
  readonly progress: (message: ProgressMessage) => void;
}

/** What it throws is shown to the model if it is a `ToolRefused`, and hidden otherwise. */
export type ExecutorTool = (args: Json, context: ExecutorContext) => unknown;

/** An error that a model may read. */
export class ToolRefused extends Error {
  override readonly name = "ToolRefused";
}

export interface ExecutorOptions {
  /** By tool id. */
  readonly tools: { readonly [toolId: string]: ExecutorTool };
  /** What a tool threw that no model is shown. */
  readonly internalError?: (toolId: string, thrown: unknown) => void;
  /** The host did not take it, or lets its client in no more: it is offered nothing. Without this the console shows it. */
  readonly refused?: (error: HostRefused) => void;
}

const shown = ({ code, message }: HostRefused): void =>
  console.error(`pawl: an executor was refused: ${code}: ${message}`);

export interface Settling extends OfferedRun {
  readonly output: ToolCallOutput;
  readonly duration_ms: number;
}

/** How it speaks to the host. */
export interface ExecutorPort {
  readonly settle: (settling: Settling) => Promise<void>;
  readonly progress: (progress: OfferedRun & ProgressMessage) => void;
}

const keyOf = ({ scope, call, attempt, run }: OfferedRun): string => JSON.stringify([scope, call, attempt, run]);

export class Executor {
  readonly id = crypto.randomUUID();
  readonly #options: ExecutorOptions;
  readonly #port: ExecutorPort;
  /** What was offered and is not settled. */
  readonly #runs = new Map<string, AbortController>();

  constructor(options: ExecutorOptions, port: ExecutorPort) {
    this.#options = options;
    this.#port = port;
  }

  get tools(): readonly string[] {
    return Object.keys(this.#options.tools);
  }

  /** What is offered again has begun already. */
  offered(offer: Offer): void {
    const key = keyOf(offer);
    if (this.#runs.has(key)) return;
    const abort = new AbortController();
    this.#runs.set(key, abort);
    void this.#run(offer, abort.signal).finally(() => this.#runs.delete(key));
  }

  refused(error: HostRefused): void {
    (this.#options.refused ?? shown)(error);
  }

  cancelled(run: OfferedRun): void {
    this.#runs.get(keyOf(run))?.abort();
  }

  async #run(offer: Offer, signal: AbortSignal): Promise<void> {
    const { tool_id, args, payload, completion_key: completionKey, scope, call, attempt, run: number } = offer;
    const run = { scope, call, attempt, run: number };
    const startedAt = performance.now();
    const progress = ({ text, kind }: ProgressMessage): void => this.#port.progress({ ...run, text, kind });
    const output = await this.#output(tool_id, args, { ...run, payload, completionKey, signal, progress });
    await this.#port.settle({ ...run, output, duration_ms: Math.round(performance.now() - startedAt) });
  }

  async #output(toolId: string, args: Json, context: ExecutorContext): Promise<ToolCallOutput> {
    try {
      return outputOfReturned((await this.#options.tools[toolId]?.(args, context)) ?? null);
    } catch (thrown) {
      if (thrown instanceof ToolRefused) return errorOutput(thrown.message.toWellFormed());
      this.#options.internalError?.(toolId, thrown);
      return internalErrorOutput;
    }
  }
}

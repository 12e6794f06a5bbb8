/** Runs tools for a host, in a page or a program. A run survives reconnections: its result is sent over the next one. */
import type { ProgressMessage } from "@pawl/runtime";
import type { Offer, OfferedRun, ProgressSaid } from "@pawl/runtime/driver";
import { type Json, type ToolCallOutput, errorOutput, internalErrorOutput, outputOfReturned } from "@pawl/tool-value";
import { checkCount } from "./check.ts";
import type { HostRefused } from "./error.ts";

export interface ExecutorContext extends OfferedRun {
  /** The result of the tool's `prepare`. */
  readonly payload: Json;
  /** The token under which an external system completes an externally owned call after this executor is gone. */
  readonly completionKey: string | undefined;
  /** Aborts when the call is cancelled: the tool should return soon. */
  readonly signal: AbortSignal;
  /** Sends a progress message to observers. It is not recorded, and not repeated if the connection is lost. */
  readonly progress: (message: ProgressMessage) => void;
}

/** The body of a tool. The model sees the message of a `ToolRefused` that it throws, and no other error. */
export type ExecutorTool = (args: Json, context: ExecutorContext) => unknown;

/** An error that a model may read. */
export class ToolRefused extends Error {
  override readonly name = "ToolRefused";
}

export interface ExecutorOptions {
  readonly tools: { readonly [toolId: string]: ExecutorTool };
  /** Called with an error that a tool threw and the model does not see. */
  readonly internalError?: (toolId: string, thrown: unknown) => void;
  /** Called when the host refuses the executor or its client, so that nothing is offered. Logs to the console by default. */
  readonly refused?: (error: HostRefused) => void;
}

const logRefusal = ({ code, message }: HostRefused): void =>
  console.error(`pawl: an executor was refused: ${code}: ${message}`);

export interface RunResult extends OfferedRun {
  readonly output: ToolCallOutput;
  readonly duration_ms: number;
}

export interface ExecutorPort {
  /** Resolves when the host offers no more calls; after a farewell it has back what was not ended. */
  readonly leave: (said: { readonly farewell?: true }) => Promise<void>;
  readonly settle: (result: RunResult) => Promise<void>;
  readonly progress: (progress: OfferedRun & ProgressSaid) => void;
}

interface Run {
  readonly abort: AbortController;
  readonly ended: Promise<void>;
}

/** Resolves when nothing runs any more, or when the time is over. */
const endWithin = async (ms: number, runs: () => readonly Run[]): Promise<void> => {
  const over = new AbortController();
  const timer = setTimeout(() => over.abort(), ms);
  const time = new Promise((resolve) => over.signal.addEventListener("abort", resolve));
  while (!over.signal.aborted && runs().length > 0)
    await Promise.race([time, Promise.allSettled(runs().map(({ ended }) => ended))]);
  clearTimeout(timer);
};

const keyOf = ({ scope, call, attempt, run }: OfferedRun): string => JSON.stringify([scope, call, attempt, run]);

/** Runs the calls that a host offers to a client. */
export class Executor {
  readonly id = crypto.randomUUID();
  readonly #options: ExecutorOptions;
  readonly #port: ExecutorPort;
  /** The runs that were offered and have no result yet. */
  readonly #runs = new Map<string, Run>();
  #isLeaving = false;
  #hasLeft = false;

  constructor(options: ExecutorOptions, port: ExecutorPort) {
    this.#options = options;
    this.#port = port;
  }

  get tools(): readonly string[] {
    return this.#isLeaving ? [] : Object.keys(this.#options.tools);
  }

  /**
   * Leaves the host for good: takes no more calls, and waits for those that run. What still runs after `withinMs` is told
   * to stop and given back. A rerunnable call then goes on elsewhere at once, and none counts as crashed.
   */
  async leave({ withinMs = 30_000 }: { readonly withinMs?: number } = {}): Promise<void> {
    checkCount("withinMs", withinMs, 0);
    this.#isLeaving = true;
    await this.#port.leave({});
    await endWithin(withinMs, () => [...this.#runs.values()]);
    this.#hasLeft = true;
    for (const { abort } of this.#runs.values()) abort.abort();
    await this.#port.leave({ farewell: true });
  }

  /** Starts a run. The host offers it again after a reconnection: a run that has started is left alone. */
  offered(offer: Offer): void {
    const key = keyOf(offer);
    if (this.#runs.has(key) || this.#hasLeft) return;
    const abort = new AbortController();
    const ended = this.#run(offer, abort.signal).finally(() => this.#runs.delete(key));
    this.#runs.set(key, { abort, ended });
  }

  refused(error: HostRefused): void {
    (this.#options.refused ?? logRefusal)(error);
  }

  cancelled(run: OfferedRun): void {
    this.#runs.get(keyOf(run))?.abort.abort();
  }

  async #run(offer: Offer, signal: AbortSignal): Promise<void> {
    const { tool_id, args, payload, completion_key: completionKey, scope, call, attempt, run: number } = offer;
    const run = { scope, call, attempt, run: number };
    const startedAt = performance.now();
    const progress = ({ message: text, kind = "status", ...of }: ProgressMessage): void =>
      this.#port.progress({ ...run, text, kind, ...of });
    const output = await this.#output(tool_id, args, { ...run, payload, completionKey, signal, progress });
    if (this.#hasLeft) return; // Given back: what it came to is nobody's.
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

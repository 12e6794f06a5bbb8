/**
 * Bodies of tools in a worker thread, with bounds on time and memory. A body that loops for ever or eats memory would
 * otherwise stop its host, and the next one. It ends with its thread, and the call with a failure that says which bound it was.
 *
 *   wait ─▶ thread of its own ─▶ answer, and the thread ends
 *                    └─▶ out of time, out of memory, dead: the thread is ended, and the call fails
 *
 * A closure cannot go to another thread, so a body is named by its module and its export. It has no effects: what is durable
 * is asked for in the thread of the runtime, whose order of requests and answers a replay repeats.
 */
import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import { type ToolContext, ToolError } from "@pawl/runtime";
import { type Json, type ToolResult, done, failureOutput, runtimeFailure } from "@pawl/tool-value";
import { moduleExtension } from "../sqlite/worker-thread.ts";
import { type Bounds, type Isolated, checkedIsolated } from "./option.ts";
import type { FromBody, BodyData } from "./serve-body.ts";

/** Time that a cancelled body has to return. */
const graceMs = 1000;
/** How often memory outside of the heap is looked at, which V8 does not bound. */
const weighMs = 100;
const mebibyte = 1024 * 1024;

/** More threads than cores would only wait for each other. */
const mostThreads = Math.max(2, availableParallelism());

/** Gives out turns for threads, first come, first served. */
class Turns {
  #taken = 0;
  readonly #waiting: (() => void)[] = [];

  async take(): Promise<void> {
    if (this.#taken < mostThreads) this.#taken += 1;
    else await new Promise<void>((go) => this.#waiting.push(go));
  }

  give(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#taken -= 1;
    else next();
  }
}

const turns = new Turns();

const failure = (code: string, message: string): ToolResult =>
  done(failureOutput(runtimeFailure("resource_limit", code, message)));

const outOfTime = (ms: number): ToolResult =>
  failure("worker_time_limit", `the body was ended after ${ms} ms: it may take no longer`);
const outOfMemory = (mb: number): ToolResult =>
  failure("worker_memory_limit", `the body was ended: it may take no more than ${mb} MiB of memory`);

const isOutOfMemory = (thrown: unknown): boolean =>
  thrown instanceof Error && "code" in thrown && thrown.code === "ERR_WORKER_OUT_OF_MEMORY";

const dataOf = ({ module, body }: Isolated, args: unknown, ctx: ToolContext): BodyData => {
  const { scope, session, toolCallId, attempt, maxAttempts, replayKey, payload } = ctx;
  return { module, body, args, facts: { scope, session, toolCallId, attempt, maxAttempts, replayKey, payload } };
};

const startThread = (isolated: Isolated, data: BodyData): Worker => {
  const { memoryMb } = isolated;
  const resourceLimits = { maxOldGenerationSizeMb: memoryMb, maxYoungGenerationSizeMb: Math.min(16, memoryMb) };
  const url = new URL(`./serve-body.${moduleExtension}`, import.meta.url);
  return new Worker(url, { workerData: data, resourceLimits, execArgv: [] });
};

/** Looks at the memory of a thread again and again, until it is too much. Before Node 24 only V8 bounds it, by its heap. */
const watchMemory = (thread: Worker, { memoryMb }: Bounds, tooMuch: () => void): (() => void) => {
  if (!("getHeapStatistics" in thread)) return () => undefined;
  const timer = setInterval(() => {
    thread.getHeapStatistics().then(
      ({ used_heap_size: heap, external_memory: outside }) => {
        if (heap + outside > memoryMb * mebibyte) tooMuch();
      },
      () => undefined, // The thread has ended.
    );
  }, weighMs);
  return () => clearInterval(timer);
};

/** Resolves with the result of a body in a thread of its own, which has ended by then. */
const run = (isolated: Isolated, args: unknown, ctx: ToolContext): Promise<ToolResult> => {
  const { promise, resolve, reject } = Promise.withResolvers<ToolResult>();
  const thread = startThread(isolated, dataOf(isolated, args, ctx));
  const { timeMs, memoryMb } = isolated;
  const time = setTimeout(() => resolve(outOfTime(timeMs)), timeMs);
  let grace: NodeJS.Timeout | undefined;
  const stopWatching = watchMemory(thread, isolated, () => resolve(outOfMemory(memoryMb)));
  const cancel = (): void => {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    thread.postMessage("abort");
    grace = setTimeout(() => reject(new Error("the body was ended: it was cancelled, and did not return")), graceMs);
  };
  if (ctx.signal.aborted) cancel();
  else ctx.signal.addEventListener("abort", cancel, { once: true });
  thread.on("message", (said: FromBody) => {
    if (said.type === "progress") ctx.progress(said.message);
    else if (said.type === "output") resolve(done(said.output));
    else reject(said.type === "refused" ? new ToolError(said.message) : new Error(said.message));
  });
  thread.on("error", (thrown) => (isOutOfMemory(thrown) ? resolve(outOfMemory(memoryMb)) : reject(thrown)));
  thread.on("exit", (code) => reject(new Error(`the thread of the body ended by itself, with code ${code}`)));
  const end = async (): Promise<void> => {
    clearTimeout(time);
    clearTimeout(grace);
    stopWatching();
    ctx.signal.removeEventListener("abort", cancel);
    await thread.terminate();
  };
  return promise.finally(end);
};

/**
 * Makes the body of a tool that runs in a worker thread: `execute: inWorker({ module, body, timeMs, memoryMb })`. The time counts
 * from when its thread starts; more bodies than the machine has cores wait for their turn.
 */
export const inWorker = (given: Isolated): ((args: unknown, ctx: ToolContext) => Promise<Json | ToolResult>) => {
  const isolated = checkedIsolated(given);
  const execute = async (args: unknown, ctx: ToolContext): Promise<ToolResult> => {
    await turns.take();
    try {
      return await run(isolated, args, ctx);
    } finally {
      turns.give();
    }
  };
  const source = `${isolated.module} ${isolated.body}`; // A tool is told from its later versions by the text of its functions.
  return Object.defineProperty(execute, "toString", { value: () => source });
};

/** Starts and ends worker threads. */
import { type MessagePort, Worker } from "node:worker_threads";

/** The extension of this package's modules: `ts` in the repository, `js` when built. */
export const moduleExtension = import.meta.url.endsWith(".ts") ? "ts" : "js";

/** Matches an option that only a program given as text takes. A thread runs a file and refuses it. */
const isForTextPrograms = (arg: string): boolean => arg.startsWith("--input-type");

/** Starts a thread that runs `module` and calls `hear` for each of its messages. The process may end before it does. */
export const startThread = <Message>(
  module: URL,
  workerData: unknown,
  maxYoungGenerationSizeMb: number,
  hear: (message: Message) => void,
): Worker => {
  const thread = new Worker(module, {
    workerData,
    ...(process.execArgv.some(isForTextPrograms) && { execArgv: [] }),
    resourceLimits: { maxYoungGenerationSizeMb },
  });
  thread.on("message", hear);
  thread.unref(); // A listener keeps the process alive until it is told otherwise.
  return thread;
};

/** Lets this thread end. Deno's port cannot be closed; a thread ends there once nothing refers to its port. */
export const endThread = (port: MessagePort | null): void => {
  if (typeof port?.close === "function") port.close();
  else port?.unref();
};

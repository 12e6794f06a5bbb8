/** The threads of a journal file. */
import { Worker } from "node:worker_threads";

const ending = import.meta.url.endsWith(".ts") ? "ts" : "js";

/** What is said of a program in the command line, and no thread takes: its own is a file. It takes over all the rest. */
const isOfText = (arg: string): boolean => arg.startsWith("--input-type");

/** A thread that runs a file beside this one; its process may end meanwhile. */
export const threadOf = (program: string, workerData: unknown, maxYoungGenerationSizeMb: number): Worker => {
  const thread = new Worker(new URL(`./${program}.${ending}`, import.meta.url), {
    workerData,
    ...(process.execArgv.some(isOfText) && { execArgv: [] }),
    resourceLimits: { maxYoungGenerationSizeMb },
  });
  thread.unref();
  return thread;
};

/** The threads of a journal file. */
import { Worker } from "node:worker_threads";

const ending = import.meta.url.endsWith(".ts") ? "ts" : "js";

/** What no thread takes over of its process: it is of a program in the command line, and a thread's is a file. */
const isOfText = (arg: string): boolean => arg.startsWith("--input-type");

/** A thread that runs a file beside this one, and is heard; its process may end meanwhile. */
export const threadOf = <Said>(
  program: string,
  workerData: unknown,
  maxYoungGenerationSizeMb: number,
  hear: (said: Said) => void,
): Worker => {
  const thread = new Worker(new URL(`./${program}.${ending}`, import.meta.url), {
    workerData,
    ...(process.execArgv.some(isOfText) && { execArgv: [] }),
    resourceLimits: { maxYoungGenerationSizeMb },
  });
  thread.on("message", hear);
  thread.unref(); // Whoever is heard holds the process until it is told not to.
  return thread;
};

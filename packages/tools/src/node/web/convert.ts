/** Converts a page to Markdown or text in a worker thread, which is terminated if it takes too long or too much memory. */
import { Worker } from "node:worker_threads";
import * as E from "fp-ts/lib/Either.js";
import type { Converted, Page } from "./convert-worker.ts";

const program = new URL(`./convert-worker.${import.meta.url.endsWith(".ts") ? "ts" : "js"}`, import.meta.url);
const resourceLimits = { maxOldGenerationSizeMb: 256, stackSizeMb: 4 };

export const converted = async (
  html: string,
  format: "markdown" | "text",
  withinMs: number,
): Promise<E.Either<string, string>> => {
  const workerData: Page = { html, format };
  const worker = new Worker(program, { workerData, resourceLimits, env: {} });
  const failure = (reason: string): Converted => E.left(`The page could not be converted to ${format}: ${reason}`);
  const { promise, resolve } = Promise.withResolvers<Converted>();
  const timer = setTimeout(() => resolve(failure(`it took more than ${withinMs} ms`)), withinMs);
  worker.on("message", resolve);
  worker.on("error", (error: Error) => resolve(failure(error.message)));
  worker.on("exit", () => resolve(failure("its worker thread exited")));
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    await worker.terminate();
  }
};

/** A page as Markdown or as text, made in a thread that is ended when it takes too long or too much. */
import { Worker } from "node:worker_threads";
import * as E from "fp-ts/lib/Either.js";
import type { Converted, Page } from "./convert-worker.ts";

const program = new URL(`./convert-worker.${import.meta.url.endsWith(".ts") ? "ts" : "js"}`, import.meta.url);
const resourceLimits = { maxOldGenerationSizeMb: 256, stackSizeMb: 4 };

/** The text, or why there is none. */
export const converted = async (
  html: string,
  format: "markdown" | "text",
  withinMs: number,
): Promise<E.Either<string, string>> => {
  const workerData: Page = { html, format };
  const worker = new Worker(program, { workerData, resourceLimits, env: {} });
  const refused = (why: string): Converted => E.left(`The page could not be converted to ${format}: ${why}`);
  const { promise, resolve } = Promise.withResolvers<Converted>();
  const timer = setTimeout(() => resolve(refused(`it takes more than ${withinMs} ms`)), withinMs);
  worker.on("message", resolve);
  worker.on("error", (error: Error) => resolve(refused(error.message)));
  worker.on("exit", () => resolve(refused("its thread has ended")));
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    await worker.terminate();
  }
};

/** The worker thread of the core simulation: runs the seeds that it receives. */
import { parentPort } from "node:worker_threads";
import { type CoreSimOptions, runCoreSims } from "../../src/core-sim/index.ts";

export interface Part {
  readonly seed: number;
  readonly seeds: number;
  readonly options: CoreSimOptions;
}

/** The result of a part, as it is posted. The main thread runs a failed seed again for the details. */
export interface Posted {
  readonly seeds: number;
  readonly events: number;
  readonly fewest: number;
  readonly crashes: number;
  readonly coverage: { readonly [kind: string]: ReadonlyMap<string, number> };
  readonly failed: number | undefined;
}

parentPort?.on("message", ({ seed, seeds, options }: Part) => {
  const { coverage, failure, ...counts } = runCoreSims({ ...options, seed, seeds });
  const posted: Posted = { ...counts, coverage: { ...coverage }, failed: failure?.seed };
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  parentPort?.postMessage(posted);
});

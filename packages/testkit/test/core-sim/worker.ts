/** Runs seeds of the core simulation that it is handed, as a thread of its own. */
import { parentPort } from "node:worker_threads";
import { type CoreSimOptions, runCoreSims } from "../../src/core-sim/index.ts";

export interface Part {
  readonly seed: number;
  readonly seeds: number;
  readonly options: CoreSimOptions;
}

/** What came of a part, as it can be posted. Who asked runs a seed that failed again, and has all of it. */
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

/** The core simulation on several cores: each thread runs a part of the seeds, until all are done or one fails. */
import { resolve } from "node:path";
import { Worker } from "node:worker_threads";
import { Coverage, type CoreSimReport, type CoreSimsOptions, runCoreSims } from "../../src/core-sim/index.ts";
import type { Part, Posted } from "./worker.ts";

const seedsAtATime = 250;

export interface JobsOptions extends CoreSimsOptions {
  readonly jobs: number;
  /** Called after every part. */
  readonly progress?: (report: CoreSimReport) => void;
}

class Jobs {
  readonly #options: JobsOptions;
  readonly #last: number;
  #next: number;
  #report: CoreSimReport = {
    seeds: 0,
    events: 0,
    fewest: Infinity,
    crashes: 0,
    coverage: new Coverage(),
    failure: undefined,
  };

  constructor(options: JobsOptions) {
    const { seed = 1, seeds = 1 } = options;
    this.#options = options;
    this.#next = seed;
    this.#last = seed + seeds;
  }

  async run(): Promise<CoreSimReport> {
    const parts = Math.ceil((this.#last - this.#next) / seedsAtATime);
    await Promise.all(Array.from({ length: Math.min(this.#options.jobs, parts) }, () => this.#work()));
    return this.#report;
  }

  #part(): Part | undefined {
    const seeds = Math.min(seedsAtATime, this.#last - this.#next);
    if (seeds <= 0 || this.#report.failure !== undefined) return undefined;
    const { jobs: _, progress: __, ...options } = this.#options;
    const part = { seed: this.#next, seeds, options };
    this.#next += seeds;
    return part;
  }

  async #work(): Promise<void> {
    const worker = new Worker(resolve(import.meta.dirname, "worker.ts"), { execArgv: [] });
    try {
      for (let part = this.#part(); part !== undefined; part = this.#part()) {
        // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
        worker.postMessage(part);
        const posted = await new Promise<Posted>((told, failed) => {
          worker.once("message", told);
          worker.once("error", failed);
        });
        worker.removeAllListeners("error");
        this.#add(posted, part);
      }
    } finally {
      await worker.terminate();
    }
  }

  #add({ coverage, failed, ...counts }: Posted, { options }: Part): void {
    const { coverage: all, failure, ...before } = this.#report;
    all.add(Object.assign(new Coverage(), coverage));
    this.#report = {
      seeds: before.seeds + counts.seeds,
      events: before.events + counts.events,
      fewest: Math.min(before.fewest, counts.fewest),
      crashes: before.crashes + counts.crashes,
      coverage: all,
      failure: failure ?? (failed === undefined ? undefined : runCoreSims({ ...options, seed: failed }).failure),
    };
    this.#options.progress?.(this.#report);
  }
}

export const runJobs = (options: JobsOptions): Promise<CoreSimReport> => new Jobs(options).run();

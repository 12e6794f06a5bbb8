/** A call of a bundled script in some runtime. Argument and answer are JSON. */
export interface Job {
  /** A script whose exports are the global `suite`. */
  readonly code: string;
  /** An export of the script; what it returns may be a promise. */
  readonly call: string;
  readonly argument: unknown;
}

/** Runs a job in one runtime, from its start to its end. */
export type Guest = (job: Job, within: AbortSignal) => Promise<unknown>;

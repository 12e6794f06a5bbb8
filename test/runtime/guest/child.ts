/** Processes of the tests, each in a folder of its own: both are gone when the work with them is over. */
import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";

/** Works in an empty folder. */
export const inFolder = async <A>(work: (folder: string) => Promise<A>): Promise<A> => {
  const folder = mkdtempSync(join(tmpdir(), "pawl-runtime-"));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
};

const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean => exitCode !== null || signalCode !== null;

/** Ends a process and all that it started, as a crash does. */
export const kill = async (child: ChildProcess): Promise<void> => {
  if (child.pid === undefined || hasEnded(child)) return;
  const exited = once(child, "exit");
  process.kill(-child.pid, "SIGKILL");
  await exited;
};

export interface Started {
  readonly child: ChildProcess;
  /** Resolves when the process ends well, and rejects with what it said when it does not. */
  readonly done: Promise<void>;
  /** Rejects when the process ends: of one that is to run until it is killed. */
  readonly early: Promise<never>;
}

/** Starts a program. */
export const start = (path: string, args: readonly string[], options: SpawnOptions = {}): Started => {
  const child = spawn(path, args, { stdio: ["ignore", "ignore", "pipe"], ...options, detached: true });
  let said = "";
  child.stderr?.on("data", (chunk) => (said = `${said}${chunk}`.slice(-4000)));
  const { promise: done, resolve, reject } = Promise.withResolvers<void>();
  child.once("error", reject);
  child.once("close", (code, signal) =>
    code === 0 ? resolve() : reject(new Error(`${path} ended with ${String(code ?? signal)}:\n${said}`)),
  );
  const early = done.then((): never => {
    throw new Error(`${path} ended before it was told to:\n${said}`);
  });
  early.catch(() => {}); // Nobody races it any more when it is killed.
  return { child, done, early };
};

/** Reads the first line that a program writes to a descriptor. */
export const firstLine = (child: ChildProcess, descriptor: number): Promise<string> =>
  new Promise((resolve) => {
    let text = "";
    (child.stdio[descriptor] as Readable).on("data", (chunk) => {
      text += String(chunk);
      const end = text.indexOf("\n");
      if (end !== -1) resolve(text.slice(0, end));
    });
  });

/** Rejects once the time for something is over. */
export const over = (within: AbortSignal, what: string): Promise<never> =>
  new Promise((_, reject) => {
    const fail = (): void => reject(new Error(`${what} did not answer in time`));
    if (within.aborted) fail();
    else within.addEventListener("abort", fail, { once: true });
  });
